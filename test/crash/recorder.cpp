// SPDX-License-Identifier: BSD-3-Clause
// Preloaded: notes every call that changes a file of one folder, with its data, in the order of the calls. disk.py
// makes of it what a disk may hold after a power cut. Of several ranks the first is noted, which alone writes
// files.
//
// A2APERF_TEST_CRASH_FOLDER  the folder, as realpath has it
// A2APERF_TEST_CRASH_LOG     where to, a file outside of it; several processes may follow each other in one
// A2APERF_TEST_CRASH_KILL    ends the process by SIGKILL after that many notes; D:40 after 40 more than the first
//                            D, C2:40 after 40 more than the second C
//
// A note is a line: a letter, numbers, names (which hold no tab); behind a W, its bytes and a line's end.
//   C inode name    a new file, without a name where it has none     W inode offset length
//   T inode length  its length changed                              Z inode offset length   made zero
//   S inode         synced (fsync, fdatasync)                        E inode                 that failed
//   D               the folder was synced
//   R from to       renamed                                          X one other             exchanged
//   L inode name    linked                                           U name                  removed
#undef _FILE_OFFSET_BITS // it renames the calls that both have their names here
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <string_view>

namespace {

template <class Function>
Function* real(const char* name) {
    return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

bool is_first_rank() {
    for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK"})
        if (const char* rank = std::getenv(name); rank != nullptr && std::strcmp(rank, "0") != 0) return false;
    return true;
}

class Notes {
public:
    Notes() {
        const char* folder = std::getenv("A2APERF_TEST_CRASH_FOLDER");
        const char* log = std::getenv("A2APERF_TEST_CRASH_LOG");
        if (folder == nullptr || log == nullptr || !is_first_rank()) return;
        folder_ = folder;
        static auto* const open_file = real<int(const char*, int, ...)>("open");
        log_ = open_file(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        if (const char* kill = std::getenv("A2APERF_TEST_CRASH_KILL")) end_after(kill);
    }

    bool is_on() const { return log_ >= 0; }
    const std::string& folder() const { return folder_; }

    // The name within the folder; nothing for what is elsewhere, or in a folder of it.
    const char* name_of(const std::string& path) const {
        if (path.size() <= folder_.size() + 1 || path.compare(0, folder_.size(), folder_) != 0) return nullptr;
        if (path[folder_.size()] != '/' || path.find('/', folder_.size() + 1) != std::string::npos) return nullptr;
        return path.c_str() + folder_.size() + 1;
    }

    void add(const std::string& line, const void* bytes = nullptr, std::size_t size = 0) {
        static auto* const write_all = real<ssize_t(int, const iovec*, int)>("writev");
        std::string head = line + '\n';
        char end = '\n';
        std::array<iovec, 3> parts{{{head.data(), head.size()}, {const_cast<void*>(bytes), size}, {&end, 1}}};
        const auto whole = static_cast<ssize_t>(bytes != nullptr ? head.size() + size + 1 : head.size());
        if (write_all(log_, parts.data(), bytes != nullptr ? 3 : 1) != whole) std::abort();
        if (first_ > 0)
            first_ -= line[0] == letter_ ? 1 : 0;
        else if (left_ > 0 && --left_ == 0)
            (void)kill(getpid(), SIGKILL);
    }

    // From before the call until its note: the order of the notes is that of what was done.
    std::recursive_mutex busy;

private:
    void end_after(std::string_view told) {
        const std::size_t colon = told.find(':');
        if (colon != std::string_view::npos) {
            letter_ = told[0];
            first_ = std::max(std::atol(told.data() + 1), 1L);
            told.remove_prefix(colon + 1);
        }
        left_ = std::atol(told.data());
    }

    std::string folder_;
    int log_ = -1;
    char letter_ = 0; // so many notes of that letter, then so many of any
    long first_ = 0;
    long left_ = 0;
};

// What is opened before main() comes here first.
Notes& notes() {
    static Notes all;
    return all;
}

class Turn {
public:
    Turn() : lock_(notes().busy) {}
    // The caller looks at errno after its call.
    ~Turn() { errno = error_; }
    void keep_error() { error_ = errno; }

private:
    std::lock_guard<std::recursive_mutex> lock_;
    int error_ = 0;
};

std::string path_of(int descriptor) {
    std::array<char, PATH_MAX> path{};
    const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
    const ssize_t length = readlink(link.c_str(), path.data(), path.size());
    return length > 0 ? std::string(path.data(), static_cast<std::size_t>(length)) : std::string();
}

// As realpath has its folder; the last part itself is not followed.
std::string path_of(int folder, const char* path) {
    std::string whole = path;
    if (whole.empty() || whole[0] != '/')
        whole = (folder == AT_FDCWD ? std::string(".") : path_of(folder)) + "/" + whole;
    const std::size_t slash = whole.rfind('/');
    std::array<char, PATH_MAX> found{};
    if (realpath(whole.substr(0, slash + 1).c_str(), found.data()) == nullptr) return whole;
    return std::string(found.data()) + whole.substr(slash);
}

// The inode of a file of the folder, 0 of any other.
std::uint64_t inode_of(int descriptor) {
    struct stat status {};
    if (!notes().is_on() || fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) return 0;
    return notes().name_of(path_of(descriptor)) != nullptr ? status.st_ino : 0;
}

std::string note_of(char letter, std::uint64_t inode, std::int64_t first, std::int64_t second = -1) {
    std::string line = std::string(1, letter) + '\t' + std::to_string(inode) + '\t' + std::to_string(first);
    return second < 0 ? line : line + '\t' + std::to_string(second);
}

void note_length(int descriptor, std::uint64_t inode) {
    struct stat status {};
    if (fstat(descriptor, &status) == 0) notes().add(note_of('T', inode, status.st_size));
}

int open_noted(int folder, const char* path, int flags, mode_t mode) {
    static auto* const open_at = real<int(int, const char*, int, ...)>("openat");
    if (!notes().is_on()) return open_at(folder, path, flags, mode);
    Turn turn;
    struct stat before {};
    const bool is_new = (flags & O_TMPFILE) == O_TMPFILE || fstatat(folder, path, &before, 0) != 0;
    const int descriptor = open_at(folder, path, flags, mode);
    turn.keep_error();
    const std::uint64_t inode = descriptor >= 0 ? inode_of(descriptor) : 0;
    if (inode != 0 && is_new) {
        const bool is_nameless = (flags & O_TMPFILE) == O_TMPFILE;
        const std::string name = is_nameless ? std::string() : path_of(descriptor);
        notes().add("C\t" + std::to_string(inode) + '\t' + (is_nameless ? "" : name.substr(name.rfind('/') + 1)));
    } else if (inode != 0 && (flags & O_TRUNC) != 0) {
        notes().add(note_of('T', inode, 0));
    }
    return descriptor;
}

mode_t mode_of(int flags, va_list arguments) {
    return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
}

ssize_t write_noted(int descriptor, const void* bytes, size_t size, off64_t offset) {
    static auto* const write_there = real<ssize_t(int, const void*, size_t, off64_t)>("pwrite64");
    static auto* const write_on = real<ssize_t(int, const void*, size_t)>("write");
    const bool is_placed = offset >= 0;
    const auto call = [&] {
        return is_placed ? write_there(descriptor, bytes, size, offset) : write_on(descriptor, bytes, size);
    };
    const std::uint64_t inode = inode_of(descriptor);
    if (inode == 0) return call();
    Turn turn;
    const ssize_t written = call();
    turn.keep_error();
    if (written <= 0) return written;
    const off64_t at = is_placed ? offset : lseek64(descriptor, 0, SEEK_CUR) - written;
    notes().add(note_of('W', inode, at, written), bytes, static_cast<std::size_t>(written));
    return written;
}

ssize_t write_noted(int descriptor, const iovec* parts, int count, off64_t offset) {
    std::string bytes;
    for (int i = 0; i < count; ++i) bytes.append(static_cast<const char*>(parts[i].iov_base), parts[i].iov_len);
    return write_noted(descriptor, bytes.data(), bytes.size(), offset);
}

int truncate_noted(int descriptor, off64_t size) {
    static auto* const call = real<int(int, off64_t)>("ftruncate64");
    const std::uint64_t inode = inode_of(descriptor);
    if (inode == 0) return call(descriptor, size);
    Turn turn;
    const int result = call(descriptor, size);
    turn.keep_error();
    if (result == 0) notes().add(note_of('T', inode, size));
    return result;
}

int allocate_noted(int descriptor, int mode, off64_t offset, off64_t length) {
    static auto* const call = real<int(int, int, off64_t, off64_t)>("fallocate64");
    const std::uint64_t inode = inode_of(descriptor);
    if (inode == 0) return call(descriptor, mode, offset, length);
    Turn turn;
    const int result = call(descriptor, mode, offset, length);
    turn.keep_error();
    if (result == 0 && (mode & (FALLOC_FL_PUNCH_HOLE | FALLOC_FL_ZERO_RANGE)) != 0)
        notes().add(note_of('Z', inode, offset, length));
    if (result == 0) note_length(descriptor, inode);
    return result;
}

int sync_noted(const char* name, int descriptor) {
    auto* const call = real<int(int)>(name);
    if (!notes().is_on()) return call(descriptor);
    const bool is_folder = path_of(descriptor) == notes().folder();
    const std::uint64_t inode = inode_of(descriptor);
    Turn turn;
    const int result = call(descriptor);
    turn.keep_error();
    if (result == 0 && is_folder) notes().add("D");
    if (inode != 0) notes().add((result == 0 ? "S\t" : "E\t") + std::to_string(inode));
    return result;
}

int rename_noted(int from_folder, const char* from, int to_folder, const char* to, unsigned flags) {
    static auto* const call = real<int(int, const char*, int, const char*, unsigned)>("renameat2");
    if (!notes().is_on()) return call(from_folder, from, to_folder, to, flags);
    const std::string from_path = path_of(from_folder, from);
    const std::string to_path = path_of(to_folder, to);
    Turn turn;
    const int result = call(from_folder, from, to_folder, to, flags);
    turn.keep_error();
    const char* const old_name = notes().name_of(from_path);
    const char* const new_name = notes().name_of(to_path);
    if (result != 0 || old_name == nullptr || new_name == nullptr) return result;
    notes().add(std::string((flags & RENAME_EXCHANGE) != 0 ? "X" : "R") + '\t' + old_name + '\t' + new_name);
    return result;
}

int link_noted(int from_folder, const char* from, int to_folder, const char* to, int flags) {
    static auto* const call = real<int(int, const char*, int, const char*, int)>("linkat");
    if (!notes().is_on()) return call(from_folder, from, to_folder, to, flags);
    const std::string path = path_of(to_folder, to);
    Turn turn;
    const int result = call(from_folder, from, to_folder, to, flags);
    turn.keep_error();
    struct stat status {};
    const char* const name = notes().name_of(path);
    if (result == 0 && name != nullptr && fstatat(to_folder, to, &status, AT_SYMLINK_NOFOLLOW) == 0)
        notes().add("L\t" + std::to_string(status.st_ino) + '\t' + name);
    return result;
}

int unlink_noted(int folder, const char* path, int flags) {
    static auto* const call = real<int(int, const char*, int)>("unlinkat");
    if (!notes().is_on()) return call(folder, path, flags);
    const std::string whole = path_of(folder, path);
    Turn turn;
    const int result = call(folder, path, flags);
    turn.keep_error();
    if (const char* const name = notes().name_of(whole); result == 0 && name != nullptr)
        notes().add(std::string("U\t") + name);
    return result;
}

} // namespace

// The mode is there where a file may be made.
#define OPENS(folder)                                                                                              \
    va_list arguments;                                                                                             \
    va_start(arguments, flags);                                                                                    \
    const mode_t mode = mode_of(flags, arguments);                                                                 \
    va_end(arguments);                                                                                             \
    return open_noted(folder, path, flags, mode)

extern "C" {

int open(const char* path, int flags, ...) {
    OPENS(AT_FDCWD);
}
int open64(const char* path, int flags, ...) {
    OPENS(AT_FDCWD);
}
int openat(int folder, const char* path, int flags, ...) {
    OPENS(folder);
}
int openat64(int folder, const char* path, int flags, ...) {
    OPENS(folder);
}
int creat(const char* path, mode_t mode) {
    return open_noted(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode);
}

ssize_t write(int descriptor, const void* bytes, size_t size) {
    return write_noted(descriptor, bytes, size, -1);
}
ssize_t pwrite(int descriptor, const void* bytes, size_t size, off_t offset) {
    return write_noted(descriptor, bytes, size, offset);
}
ssize_t pwrite64(int descriptor, const void* bytes, size_t size, off64_t offset) {
    return write_noted(descriptor, bytes, size, offset);
}
ssize_t writev(int descriptor, const iovec* parts, int count) {
    static auto* const call = real<ssize_t(int, const iovec*, int)>("writev");
    return inode_of(descriptor) == 0 ? call(descriptor, parts, count) : write_noted(descriptor, parts, count, -1);
}
ssize_t pwritev(int descriptor, const iovec* parts, int count, off_t offset) {
    return write_noted(descriptor, parts, count, offset);
}
ssize_t pwritev64(int descriptor, const iovec* parts, int count, off64_t offset) {
    return write_noted(descriptor, parts, count, offset);
}
ssize_t pwritev64v2(int descriptor, const iovec* parts, int count, off64_t offset, int) {
    return write_noted(descriptor, parts, count, offset);
}
ssize_t pwritev2(int descriptor, const iovec* parts, int count, off_t offset, int) {
    return write_noted(descriptor, parts, count, offset);
}

int ftruncate(int descriptor, off_t size) noexcept {
    return truncate_noted(descriptor, size);
}
int ftruncate64(int descriptor, off64_t size) noexcept {
    return truncate_noted(descriptor, size);
}
int fallocate(int descriptor, int mode, off_t offset, off_t length) {
    return allocate_noted(descriptor, mode, offset, length);
}
int fallocate64(int descriptor, int mode, off64_t offset, off64_t length) {
    return allocate_noted(descriptor, mode, offset, length);
}
int posix_fallocate(int descriptor, off_t offset, off_t length) {
    return allocate_noted(descriptor, 0, offset, length) == 0 ? 0 : errno;
}
int posix_fallocate64(int descriptor, off64_t offset, off64_t length) {
    return posix_fallocate(descriptor, offset, length);
}
int fsync(int descriptor) {
    return sync_noted("fsync", descriptor);
}
int fdatasync(int descriptor) {
    return sync_noted("fdatasync", descriptor);
}

int rename(const char* from, const char* to) noexcept {
    return rename_noted(AT_FDCWD, from, AT_FDCWD, to, 0);
}
int renameat(int from_folder, const char* from, int to_folder, const char* to) noexcept {
    return rename_noted(from_folder, from, to_folder, to, 0);
}
int renameat2(int from_folder, const char* from, int to_folder, const char* to, unsigned flags) noexcept {
    return rename_noted(from_folder, from, to_folder, to, flags);
}
int link(const char* from, const char* to) noexcept {
    return link_noted(AT_FDCWD, from, AT_FDCWD, to, 0);
}
int linkat(int from_folder, const char* from, int to_folder, const char* to, int flags) noexcept {
    return link_noted(from_folder, from, to_folder, to, flags);
}
int unlink(const char* path) noexcept {
    return unlink_noted(AT_FDCWD, path, 0);
}
int unlinkat(int folder, const char* path, int flags) noexcept {
    return unlink_noted(folder, path, flags);
}
int remove(const char* path) noexcept {
    const int result = unlink_noted(AT_FDCWD, path, 0);
    return result != 0 && errno == EISDIR ? unlink_noted(AT_FDCWD, path, AT_REMOVEDIR) : result;
}

} // extern "C"
