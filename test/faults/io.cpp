// SPDX-License-Identifier: BSD-3-Clause
// Faults of files and memory. Calls: write, read (of regular files; pwrite and pread count with them), fsync,
// fdatasync, ftruncate, rename, open; new, malloc, mmap. Reads and writes also know "short" (half of the bytes) and
// reads "eof"; fsync, fdatasync and write know late:MILLISECONDS. All of files know kill (SIGKILL, before the
// call), stop and term (SIGTERM, then the call).
#undef _FILE_OFFSET_BITS // it renames the calls that both have their names here
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <ctime>
#include <new>

#include "plan.hpp"

using faults::plan;

extern "C" void* __libc_malloc(std::size_t size);
extern "C" void* __libc_calloc(std::size_t count, std::size_t size);

namespace {

template <class Function>
Function* real(const char* name) {
    return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

bool is_path_meant(std::string_view path) {
    return path.ends_with(plan().path);
}

// A signal is no failure: the call is made, where the process is there to make it.
bool fails(bool is_struck) {
    if (!is_struck) return false;
    const int number = faults::signal_of(plan().action);
    if (number != 0) raise(number);
    return number == 0;
}

// Sockets and pipes are MPI's.
bool strikes_file(std::string_view call, int descriptor) {
    if (!plan().is_here || call != plan().call) return false;
    struct stat status {};
    if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) return false;
    std::array<char, 64> link{};
    std::array<char, 4096> path{};
    (void)std::snprintf(link.data(), link.size(), "/proc/self/fd/%d", descriptor);
    const ssize_t length = readlink(link.data(), path.data(), path.size());
    return length > 0 && is_path_meant({path.data(), static_cast<std::size_t>(length)}) && faults::strikes(call);
}

bool strikes_path(std::string_view call, const char* path) {
    return call == plan().call && is_path_meant(path) && faults::strikes(call);
}

bool strikes_size(std::string_view call, std::size_t size) {
    return call == plan().call && size >= static_cast<std::size_t>(plan().above) && faults::strikes(call);
}

int fail() {
    errno = plan().error;
    return -1;
}

void wait_as_told() {
    timespec left{.tv_sec = plan().number / 1000, .tv_nsec = plan().number % 1000 * 1'000'000};
    while (nanosleep(&left, &left) != 0) {
    }
}

int fail_or_be_late(int (*call)(int), int descriptor) {
    if (plan().action != "late") return fail();
    wait_as_told();
    return call(descriptor);
}

// move(bytes): the real call for that many.
template <class Move>
ssize_t transfer(std::string_view call, int descriptor, std::size_t size, Move move) {
    if (!fails(strikes_file(call, descriptor))) return move(size);
    if (plan().action == "eof") return 0;
    if (plan().action == "late") {
        wait_as_told();
        return move(size);
    }
    if (plan().action == "short") return move(std::max<std::size_t>(size / 2, 1));
    return fail();
}

int open_for_real(const char* name, const char* path, int flags, mode_t mode) {
    if (fails(strikes_path("open", path))) return fail();
    return real<int(const char*, int, ...)>(name)(path, flags, mode);
}

mode_t mode_of(int flags, va_list arguments) {
    return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
}

} // namespace

extern "C" {

ssize_t write(int descriptor, const void* bytes, size_t size) {
    static auto* const call = real<ssize_t(int, const void*, size_t)>("write");
    return transfer("write", descriptor, size, [&](size_t some) { return call(descriptor, bytes, some); });
}

ssize_t pwrite(int descriptor, const void* bytes, size_t size, off_t offset) {
    static auto* const call = real<ssize_t(int, const void*, size_t, off_t)>("pwrite");
    return transfer("write", descriptor, size, [&](size_t some) { return call(descriptor, bytes, some, offset); });
}

ssize_t pwrite64(int descriptor, const void* bytes, size_t size, off64_t offset) {
    return pwrite(descriptor, bytes, size, offset);
}

ssize_t read(int descriptor, void* bytes, size_t size) {
    static auto* const call = real<ssize_t(int, void*, size_t)>("read");
    return transfer("read", descriptor, size, [&](size_t some) { return call(descriptor, bytes, some); });
}

ssize_t pread(int descriptor, void* bytes, size_t size, off_t offset) {
    static auto* const call = real<ssize_t(int, void*, size_t, off_t)>("pread");
    return transfer("read", descriptor, size, [&](size_t some) { return call(descriptor, bytes, some, offset); });
}

ssize_t pread64(int descriptor, void* bytes, size_t size, off64_t offset) {
    return pread(descriptor, bytes, size, offset);
}

int fsync(int descriptor) {
    static auto* const call = real<int(int)>("fsync");
    // A folder is synced too, and is no regular file.
    return fails(faults::strikes("fsync")) ? fail_or_be_late(call, descriptor) : call(descriptor);
}

int fdatasync(int descriptor) {
    static auto* const call = real<int(int)>("fdatasync");
    return fails(strikes_file("fdatasync", descriptor)) ? fail_or_be_late(call, descriptor) : call(descriptor);
}

int ftruncate(int descriptor, off_t size) noexcept {
    static auto* const call = real<int(int, off_t)>("ftruncate");
    return fails(strikes_file("ftruncate", descriptor)) ? fail() : call(descriptor, size);
}

int ftruncate64(int descriptor, off64_t size) noexcept {
    return ftruncate(descriptor, size);
}

int rename(const char* from, const char* to) noexcept {
    static auto* const call = real<int(const char*, const char*)>("rename");
    return fails(strikes_path("rename", to)) ? fail() : call(from, to);
}

int renameat2(int from_folder, const char* from, int to_folder, const char* to, unsigned flags) noexcept {
    static auto* const call = real<int(int, const char*, int, const char*, unsigned)>("renameat2");
    return fails(strikes_path("rename", to)) ? fail() : call(from_folder, from, to_folder, to, flags);
}

int open(const char* path, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    const mode_t mode = mode_of(flags, arguments);
    va_end(arguments);
    return open_for_real("open", path, flags, mode);
}

int open64(const char* path, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    const mode_t mode = mode_of(flags, arguments);
    va_end(arguments);
    return open_for_real("open64", path, flags, mode);
}

void* mmap(void* at, size_t size, int protection, int flags, int descriptor, off_t offset) noexcept {
    static auto* const call = real<void*(void*, size_t, int, int, int, off_t)>("mmap");
    if (!strikes_size("mmap", size)) return call(at, size, protection, flags, descriptor, offset);
    errno = plan().error;
    return MAP_FAILED;
}

void* mmap64(void* at, size_t size, int protection, int flags, int descriptor, off64_t offset) noexcept {
    return mmap(at, size, protection, flags, descriptor, offset);
}

void* malloc(size_t size) noexcept {
    if (!strikes_size("malloc", size)) return __libc_malloc(size);
    errno = ENOMEM;
    return nullptr;
}

void* calloc(size_t count, size_t size) noexcept {
    if (!strikes_size("malloc", count * size)) return __libc_calloc(count, size);
    errno = ENOMEM;
    return nullptr;
}

} // extern "C"

// All that C++ allocates goes through this one.
void* operator new(std::size_t size) {
    void* const memory = strikes_size("new", size) ? nullptr : __libc_malloc(std::max<std::size_t>(size, 1));
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
}
