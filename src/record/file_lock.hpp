// SPDX-License-Identifier: BSD-3-Clause
// Tells one launch that another is at work on the same file, and lets readers be. A launch holds two advisory
// locks, gone with the process: its mark, which is of one byte far behind any data, so that readers hold none of
// it, and a shared flock, with which those that lock as HDF5 does get along and writers do not. Where a file system
// has no locks there is none.
#pragma once

#include <filesystem>
#include <string>

namespace a2aperf {

// UsageError where something has the name that a killed launch of this user did not leave: a link, no plain file,
// another user's, or one that does not begin as a results file.
void require_leftover(const std::filesystem::path& file);

// "nobody", or "user 1234" where the number has no name.
std::string name_of_user(unsigned id);

class FileLock {
public:
    // Of an existing file, or of one that is created empty, in the place of what a killed launch left there. The
    // last name of a path is not followed where it is a link. UsageError where another holds one; it says who, of
    // the file by the name that is given.
    static FileLock existing(const std::filesystem::path& file, const std::filesystem::path& named);
    static FileLock creating(const std::filesystem::path& file, const std::filesystem::path& named);

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

private:
    explicit FileLock(int descriptor) : descriptor_(descriptor) {}
    void take(int without_mark, const std::filesystem::path& named) const;
    int descriptor_;
};

} // namespace a2aperf
