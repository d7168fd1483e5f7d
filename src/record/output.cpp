// SPDX-License-Identifier: BSD-3-Clause
#include "output.hpp"

#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "a2aperf/base/error.hpp"
#include "a2aperf/base/units.hpp"

namespace a2aperf {
namespace {

namespace fs = std::filesystem;

fs::path folder_of(const fs::path& file) {
    return file.has_parent_path() ? file.parent_path() : fs::path(".");
}

[[noreturn]] void throw_errno(const std::string& what) {
    throw std::system_error(errno, std::generic_category(), what);
}

// The same every time, so that what a killed process left is replaced by the next one.
fs::path temporary_name(const fs::path& target) {
    return folder_of(target) / fmt::format(".{}.partial", target.filename().string());
}

// What can't even be opened is the user's to mend.
FileLock require(FileLock (*take)(const fs::path&, const fs::path&), const fs::path& file, const fs::path& named) {
    try {
        return take(file, named);
    } catch (const std::system_error& error) {
        throw UsageError(error.what());
    }
}

// named: what to call it.
void sync_path(const fs::path& path, int flags, const fs::path& named) {
    const int descriptor = open(path.c_str(), flags | O_CLOEXEC);
    if (descriptor < 0) throw_errno(fmt::format("cannot open {}", named.string()));
    const int result = fsync(descriptor);
    const int error = errno;
    close(descriptor);
    // Some file systems can't sync a folder and say so.
    if (result == 0 || error == EINVAL || error == ENOTSUP) return;
    errno = error;
    throw_errno(fmt::format("cannot sync {}", named.string()));
}

// As the kernel sees it where it protects links (sysctl fs.protected_symlinks), which reading them goes around.
void require_trusted_link(const fs::path& file, const struct stat& folder) {
    struct stat link {};
    if (lstat(file.c_str(), &link) != 0 || !S_ISLNK(link.st_mode)) return;
    std::error_code ignored;
    if (!fs::exists(file, ignored))
        throw UsageError(fmt::format("the output {} is a symbolic link that leads nowhere: remove it, or name "
                                     "another file with -o",
                                     file.string()));
    const bool is_shared = (folder.st_mode & S_ISVTX) != 0 && (folder.st_mode & S_IWOTH) != 0;
    if (is_shared && link.st_uid != geteuid() && link.st_uid != folder.st_uid)
        throw UsageError(fmt::format("the output {} is a symbolic link of {} in a folder that everybody may write "
                                     "to, and is not followed: name another file with -o",
                                     file.string(), name_of_user(link.st_uid)));
}

} // namespace

void require_own_name(const fs::path& file) {
    struct stat folder {};
    if (stat(folder_of(file).c_str(), &folder) != 0) return;
    require_trusted_link(file, folder);
    const fs::path target = resolve(file);
    require_leftover(temporary_name(target));
    struct stat there {};
    if (lstat(target.c_str(), &there) != 0 || stat(folder_of(target).c_str(), &folder) != 0) return;
    const uid_t user = geteuid();
    const bool may_replace =
        (folder.st_mode & S_ISVTX) == 0 || user == 0 || user == there.st_uid || user == folder.st_uid;
    if (!may_replace)
        throw UsageError(
            fmt::format("{} belongs to {}, and in a folder with the sticky bit nobody else can replace "
                        "it: name another file with -o",
                        target.string(), name_of_user(there.st_uid)));
}

std::string exists_already(const fs::path& file) {
    return fmt::format("{} exists already: --resume continues it, --force replaces it, -o names another file",
                       file.string());
}

FileLock lock_or_refuse(const fs::path& file) {
    return require(FileLock::existing, file, file);
}

std::optional<FileLock> lock_where_there(const fs::path& file) {
    std::error_code ignored;
    if (!fs::exists(file, ignored)) return std::nullopt;
    return lock_or_refuse(file);
}

void require_writable_folder(const fs::path& file) {
    const fs::path folder = folder_of(file);
    std::error_code error;
    const fs::file_status status = fs::status(folder, error);
    if (!fs::exists(status))
        throw UsageError(fmt::format("the folder {} of the output {} does not exist: create it or choose another "
                                     "file with -o",
                                     folder.string(), file.filename().string()));
    if (!fs::is_directory(status))
        throw UsageError(fmt::format("{} is not a folder, so {} can't be written: choose another file with -o",
                                     folder.string(), file.string()));
    if (access(folder.c_str(), W_OK | X_OK) != 0)
        throw UsageError(fmt::format("the folder {} can't be written to ({}): choose another file with -o",
                                     folder.string(), std::generic_category().message(errno)));
}

void require_space(const fs::path& file, std::uint64_t bytes, const std::string& what) {
    const auto refuse = [&](const std::string& limit) {
        throw UsageError(fmt::format("{} could grow to {} ({}), but {}: ask for fewer --ops or --max-ops or fewer "
                                     "points, or choose another folder with -o",
                                     file.string(), format_bytes(bytes), what, limit));
    };
    struct statvfs space {};
    const fs::path folder = folder_of(file);
    if (statvfs(folder.c_str(), &space) != 0)
        throw_errno(fmt::format("cannot ask for the free space of {}", folder.string()));
    const std::uint64_t available = std::uint64_t{space.f_bavail} * space.f_frsize;
    if (available < bytes) refuse(fmt::format("{} has {} free", folder.string(), format_bytes(available)));
    rlimit limit{};
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < bytes)
        refuse(fmt::format("this process may write files of {} only (ulimit -f)", format_bytes(limit.rlim_cur)));
}

fs::path resolve(const fs::path& path) {
    std::error_code error;
    const fs::path resolved = fs::weakly_canonical(path, error);
    return error ? fs::absolute(path) : resolved;
}

Replacement::Replacement(fs::path target)
    : target_(std::move(target)), temporary_(temporary_name(target_)),
      lock_(require(FileLock::creating, temporary_, target_)) {}

Replacement::~Replacement() {
    std::error_code ignored;
    if (!is_published_ && lock_.is_at(temporary_)) fs::remove(temporary_, ignored);
}

fs::path Replacement::path() const {
    const fs::path path = lock_.path();
    return path.empty() ? temporary_ : path;
}

FileLock Replacement::publish(Existing existing) {
    sync_path(path(), O_RDONLY, temporary_);
    if (!lock_.is_at(temporary_))
        throw RunError(fmt::format("{} was removed or replaced while it was written", temporary_.string()));
    rename(existing);
    is_published_ = true;
    sync_path(folder_of(target_), O_RDONLY | O_DIRECTORY, folder_of(target_));
    return std::move(lock_);
}

void Replacement::rename(Existing existing) const {
    if (existing == Existing::keep) {
        if (renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, target_.c_str(), RENAME_NOREPLACE) == 0) return;
        if (errno == EEXIST || fs::exists(target_)) throw UsageError(exists_already(target_));
        // The file system can't promise it (EINVAL); the look before is the best there is.
    }
    fs::rename(temporary_, target_);
}

} // namespace a2aperf
