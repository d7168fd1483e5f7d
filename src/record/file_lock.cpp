// SPDX-License-Identifier: BSD-3-Clause
#include "file_lock.hpp"

#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

namespace a2aperf {
std::optional<FileLock> FileLock::existing(const std::filesystem::path& file) {
    return open(file, O_RDONLY);
}

std::optional<FileLock> FileLock::creating(const std::filesystem::path& file) {
    return open(file, O_RDWR | O_CREAT);
}

std::optional<FileLock> FileLock::open(const std::filesystem::path& file, int flags) {
    constexpr mode_t kMode = 0666; // the user's umask decides
    for (;;) {
        const int descriptor = ::open(file.c_str(), flags | O_CLOEXEC, kMode);
        if (descriptor < 0)
            throw std::system_error(errno, std::generic_category(), fmt::format("cannot open {}", file.string()));
        FileLock lock(descriptor);
        if (flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return std::nullopt;
        if (lock.is_of(file)) return lock; // between opening and locking another may have renamed it
    }
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
    return stat(file.c_str(), &named) == 0 && fstat(descriptor_, &opened) == 0 && named.st_dev == opened.st_dev &&
           named.st_ino == opened.st_ino;
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
