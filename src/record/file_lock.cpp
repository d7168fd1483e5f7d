// SPDX-License-Identifier: BSD-3-Clause
#include "file_lock.hpp"

#include <cerrno>
#include <fcntl.h>
#include <pwd.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "a2aperf/base/error.hpp"

namespace a2aperf {
namespace {

[[noreturn]] void throw_errno(const std::filesystem::path& file) {
    throw std::system_error(errno, std::generic_category(), fmt::format("cannot open {}", file.string()));
}

bool is_same(const struct stat& one, const struct stat& other) {
    return one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

} // namespace

std::string name_of_user(unsigned id) {
    const passwd* const user = getpwuid(id);
    return user != nullptr ? user->pw_name : fmt::format("user {}", id);
}

void require_leftover(const std::filesystem::path& file) {
    struct stat found {};
    if (lstat(file.c_str(), &found) != 0) return;
    const auto refuse = [&](const std::string& what) {
        throw UsageError(fmt::format("{} is in the way: it is {}, and no launch of {} left it. Remove it, or name "
                                     "another file with -o",
                                     file.string(), what, name_of_user(geteuid())));
    };
    if (S_ISLNK(found.st_mode)) refuse("a symbolic link");
    if (!S_ISREG(found.st_mode)) refuse("not a file");
    if (found.st_uid != geteuid()) refuse(fmt::format("a file of {}", name_of_user(found.st_uid)));
}

std::optional<FileLock> FileLock::existing(const std::filesystem::path& file) {
    constexpr int kFlags = O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    for (;;) {
        // For writing where that is allowed: NFS gives no exclusive lock on what is open for reading only.
        int descriptor = open(file.c_str(), O_RDWR | kFlags);
        if (descriptor < 0) descriptor = open(file.c_str(), O_RDONLY | kFlags);
        if (descriptor < 0) throw_errno(file);
        FileLock lock(descriptor);
        if (!lock.take()) return std::nullopt;
        if (lock.is_at(file)) return lock; // between opening and locking another may have renamed it
    }
}

std::optional<FileLock> FileLock::creating(const std::filesystem::path& file) {
    constexpr mode_t kMode = 0666; // the user's umask decides
    for (;;) {
        const int descriptor = open(file.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kMode);
        if (descriptor >= 0) {
            FileLock lock(descriptor);
            if (!lock.take()) return std::nullopt;
            if (lock.is_at(file)) return lock;
            continue;
        }
        if (errno != EEXIST) throw_errno(file);
        require_leftover(file);
        // Nothing is written to what was there: it goes, and whoever makes the new one first has it.
        struct stat left {};
        const int there = open(file.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (there < 0 && errno == ENOENT) continue;
        if (there < 0) throw_errno(file);
        const FileLock lock(there);
        if (!lock.take()) return std::nullopt;
        const bool is_ours = fstat(there, &left) == 0 && S_ISREG(left.st_mode) && left.st_uid == geteuid();
        if (is_ours && lock.is_at(file) && unlink(file.c_str()) != 0 && errno != ENOENT) throw_errno(file);
    }
}

// Where a file system has no locks, nobody has one.
bool FileLock::take() const {
    return flock(descriptor_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

FileLock::FileLock(FileLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

FileLock& FileLock::operator=(FileLock&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
}

FileLock::~FileLock() {
    if (descriptor_ >= 0) close(descriptor_);
}

bool FileLock::is_of(const std::filesystem::path& file) const {
    struct stat named {};
    struct stat opened {};
    return stat(file.c_str(), &named) == 0 && fstat(descriptor_, &opened) == 0 && is_same(named, opened);
}

bool FileLock::is_at(const std::filesystem::path& file) const {
    struct stat named {};
    struct stat opened {};
    return lstat(file.c_str(), &named) == 0 && fstat(descriptor_, &opened) == 0 && is_same(named, opened);
}

std::filesystem::path FileLock::path() const {
    std::filesystem::path path = fmt::format("/proc/self/fd/{}", descriptor_);
    return is_of(path) ? path : std::filesystem::path();
}

std::filesystem::path FileLock::name() const {
    std::error_code error;
    std::filesystem::path found =
        std::filesystem::read_symlink(fmt::format("/proc/self/fd/{}", descriptor_), error);
    // Of a removed file there is a path too, with a remark behind it.
    return !error && is_of(found) ? found : std::filesystem::path();
}

void FileLock::share() const {
    flock(descriptor_, LOCK_SH);
}

} // namespace a2aperf
