// SPDX-License-Identifier: BSD-3-Clause
// Tells one launch that another is at work on the same file. Advisory (flock), gone with the process that holds it;
// where a file system has no locks there is none.
#pragma once

#include <filesystem>
#include <optional>

namespace a2aperf {

class FileLock {
public:
    // Of an existing file, or of one that is created empty. Nothing when another process holds one.
    static std::optional<FileLock> existing(const std::filesystem::path& file);
    static std::optional<FileLock> creating(const std::filesystem::path& file);

    FileLock(FileLock&& other) noexcept;
    FileLock& operator=(FileLock&& other) noexcept;
    ~FileLock();

    // Whether the name still leads to the locked file: another may have removed, renamed or replaced it.
    bool is_of(const std::filesystem::path& file) const;

    // The name that the locked file has now; empty when it was removed or the system does not tell.
    std::filesystem::path name() const;

    // From now on others may read with locks of their own (HDF5 takes shared ones), and still nobody else may
    // write.
    void share() const;

private:
    explicit FileLock(int descriptor) : descriptor_(descriptor) {}
    static std::optional<FileLock> open(const std::filesystem::path& file, int flags);
    int descriptor_;
};

} // namespace a2aperf
