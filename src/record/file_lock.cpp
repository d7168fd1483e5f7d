// SPDX-License-Identifier: BSD-3-Clause
#include "file_lock.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <pwd.h>
#include <string_view>
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

// The launch's mark, as fcntl takes it.
struct flock mark(int type) {
    struct flock lock {};
    lock.l_type = static_cast<short>(type);
    lock.l_whence = SEEK_SET;
    lock.l_start = off_t{1} << 62U;
    lock.l_len = 1;
    return lock;
}

// Of a lock of all bytes, as NFS makes of a reader's, it is not known who has it.
[[noreturn]] void refuse(int descriptor, const std::filesystem::path& named) {
    struct flock found = mark(F_WRLCK);
    const bool is_launch = fcntl(descriptor, F_OFD_GETLK, &found) == 0 && found.l_type != F_UNLCK &&
                           found.l_start == mark(F_WRLCK).l_start && found.l_len == 1;
    throw UsageError(
        is_launch ? fmt::format("{} is being written by another launch", named.string())
                  : fmt::format("{} is in use by another program: let that end, or name another file with -o",
                                named.string()));
}

// Whether there are marks here at all: an old system has none, and one needs a file that is open for writing.
bool take_mark(int descriptor, const std::filesystem::path& named) {
    struct flock lock = mark(F_WRLCK);
    if (fcntl(descriptor, F_OFD_SETLK, &lock) != 0) {
        if (errno == EAGAIN || errno == EACCES) refuse(descriptor, named);
        return false;
    }
    // A shared one tells other launches as well, and readers elsewhere whose locks are of all bytes get along with
    // it.
    lock = mark(F_RDLCK);
    return fcntl(descriptor, F_OFD_SETLK, &lock) == 0;
}

[[noreturn]] void refuse_stranger(const std::filesystem::path& file, const std::string& what) {
    throw UsageError(
        fmt::format("{} is in the way: it is {}, and no launch of {} left it. Remove it, or name another "
                    "file with -o",
                    file.string(), what, name_of_user(geteuid())));
}

// Empty; HDF5's superblock, and no root group that would lead anywhere; or with the attributes that a results file
// is begun with. Bytes and not HDF5's words, for what a killed launch left need not be whole.
bool is_begun_by_launch(int descriptor) {
    using namespace std::string_view_literals;
    constexpr std::size_t kSuperblock = 96;
    constexpr std::size_t kRoot = 2048; // what the root group has, written after its attributes' values
    std::string begin(std::size_t{1} << 16U, '\0');
    const ssize_t length = pread(descriptor, begin.data(), begin.size(), 0);
    if (length < 0) return false;
    begin.resize(static_cast<std::size_t>(length));
    if (begin.empty()) return true;
    if (!begin.starts_with("\x89HDF\r\n\x1a\n"sv)) return false;
    const std::string_view root =
        std::string_view(begin).substr(0, kRoot).substr(std::min(begin.size(), kSuperblock));
    if (root.find_first_not_of('\0') == std::string_view::npos) return true;
    const auto has = [&](std::string_view word) { return begin.find(word) != std::string::npos; };
    return has("schema\0"sv) && has("schema_version\0"sv) && has("workload\0"sv) && has("replicate\0"sv);
}

} // namespace

std::string name_of_user(unsigned id) {
    const passwd* const user = getpwuid(id);
    return user != nullptr ? user->pw_name : fmt::format("user {}", id);
}

void require_leftover(const std::filesystem::path& file) {
    struct stat found {};
    if (lstat(file.c_str(), &found) != 0) return;
    if (S_ISLNK(found.st_mode)) refuse_stranger(file, "a symbolic link");
    if (!S_ISREG(found.st_mode)) refuse_stranger(file, "not a file");
    if (found.st_uid != geteuid()) refuse_stranger(file, fmt::format("a file of {}", name_of_user(found.st_uid)));
    const int descriptor = open(file.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0) return; // whoever wants to write there says why not
    const bool is_ours = is_begun_by_launch(descriptor);
    close(descriptor);
    if (!is_ours) refuse_stranger(file, "not what a launch begins");
}

FileLock FileLock::existing(const std::filesystem::path& file, const std::filesystem::path& named) {
    constexpr int kFlags = O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    for (;;) {
        // For writing where that is allowed: a mark, and on NFS any exclusive lock, needs it.
        int descriptor = open(file.c_str(), O_RDWR | kFlags);
        if (descriptor < 0) descriptor = open(file.c_str(), O_RDONLY | kFlags);
        if (descriptor < 0) throw_errno(file);
        FileLock lock(descriptor);
        lock.take(LOCK_EX, named);
        if (lock.is_at(file)) return lock; // between opening and locking another may have renamed it
    }
}

FileLock FileLock::creating(const std::filesystem::path& file, const std::filesystem::path& named) {
    constexpr mode_t kMode = 0666; // the user's umask decides
    for (;;) {
        const int descriptor = open(file.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kMode);
        if (descriptor >= 0) {
            FileLock lock(descriptor);
            lock.take(LOCK_SH, named); // nobody reads it yet
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
        lock.take(LOCK_EX, named);
        const bool is_ours = fstat(there, &left) == 0 && S_ISREG(left.st_mode) && left.st_uid == geteuid();
        if (!lock.is_at(file)) continue;
        if (!is_ours || !is_begun_by_launch(there)) refuse_stranger(file, "not what a launch begins");
        if (unlink(file.c_str()) != 0 && errno != ENOENT) throw_errno(file);
    }
}

// Where a file system has no locks, nobody has one. Where it has no marks, only an exclusive lock tells whether
// another launch has a shared one; then readers are in its way.
void FileLock::take(int without_mark, const std::filesystem::path& named) const {
    const int kind = take_mark(descriptor_, named) ? LOCK_SH : without_mark;
    if (flock(descriptor_, kind | LOCK_NB) != 0 && errno == EWOULDBLOCK) refuse(descriptor_, named);
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

} // namespace a2aperf
