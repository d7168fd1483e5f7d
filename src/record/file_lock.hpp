// SPDX-License-Identifier: BSD-3-Clause
// Tells one launch that another is at work on the same file. Advisory (flock), gone with the process that holds it;
// where a file system has no locks there is none.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace a2aperf {

// UsageError where something has the name that a killed launch of this user did not leave: a link, no plain file,
// or another user's.
void require_leftover(const std::filesystem::path& file);

// "nobody", or "user 1234" where the number has no name.
std::string name_of_user(unsigned id);

class FileLock {
public:
    // Of an existing file, or of one that is created empty, in the place of what a killed launch left there.
    // Nothing when another process holds one. The last name of a path is not followed where it is a link.
    static std::optional<FileLock> existing(const std::filesystem::path& file);
    static std::optional<FileLock> creating(const std::filesystem::path& file);

    FileLock(FileLock&& other) noexcept;
    FileLock& operator=(FileLock&& other) noexcept;
    ~FileLock();

    // Whether the name still leads to the locked file: another may have removed, renamed or replaced it.
    bool is_of(const std::filesystem::path& file) const;

    // The same of the file itself, which a link is not.
    bool is_at(const std::filesystem::path& file) const;

    // A path that leads to the locked file whatever its name leads to: for who opens files by their path only.
    std::filesystem::path path() const;

    // The name that the locked file has now; empty when it was removed or the system does not tell.
    std::filesystem::path name() const;

    // From now on others may read with locks of their own (HDF5 takes shared ones), and still nobody else may
    // write.
    void share() const;

private:
    explicit FileLock(int descriptor) : descriptor_(descriptor) {}
    bool take() const; // false when another process has it
    int descriptor_;
};

} // namespace a2aperf
