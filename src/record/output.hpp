// SPDX-License-Identifier: BSD-3-Clause
// Where the results file goes: refused early where it can't, replaced only by a whole one.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "file_lock.hpp"

namespace a2aperf {

// UsageError when the folder is missing, is none, or can't be written to.
void require_writable_folder(const std::filesystem::path& file);

// UsageError when the file system has fewer bytes free, or the process may not write a file that large. what: the
// reason for the size, for people.
void require_space(const std::filesystem::path& file, std::uint64_t bytes, const std::string& what);

// What to say of a file that is in the way.
std::string exists_already(const std::filesystem::path& file);

// UsageError when what has the output's name, or that of its unfinished form, is another user's, or a link that is
// not to be followed.
void require_own_name(const std::filesystem::path& file);

// The lock of an existing file; UsageError when another launch or program is writing it.
FileLock lock_or_refuse(const std::filesystem::path& file);

// The same, and nothing where there is no file.
std::optional<FileLock> lock_where_there(const std::filesystem::path& file);

// The file that `path` leads to, so that a rename replaces what a link points at and not the link.
std::filesystem::path resolve(const std::filesystem::path& path);

// Whether a file that has the name already may be replaced.
enum class Existing { keep, replace };

// A new file under a temporary name in the same folder, gone again unless it is published. Locked against other
// launches (UsageError when one is making the same file, or when somebody else has the temporary name).
class Replacement {
public:
    explicit Replacement(std::filesystem::path target);
    Replacement(const Replacement&) = delete;
    Replacement& operator=(const Replacement&) = delete;
    ~Replacement();

    // Leads to the new file and to nothing that somebody puts in its place.
    std::filesystem::path path() const;
    // Gives it the target's name; name and contents are on the disk on return. The lock that comes back lets
    // readers be and holds for as long as the file is written. Existing::keep: UsageError when the name has been
    // taken meanwhile.
    FileLock publish(Existing existing);

private:
    void rename(Existing existing) const;

    std::filesystem::path target_;
    std::filesystem::path temporary_;
    FileLock lock_;
    bool is_published_ = false;
};

} // namespace a2aperf
