// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/base/text_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "a2aperf/base/error.hpp"
#include "descriptor.hpp"

namespace a2aperf {
namespace {

struct Named {
    std::string_view option;
    std::string file; // quoted
};

[[noreturn]] void refuse_reading(const Named& name) {
    throw UsageError(fmt::format("{}: cannot read {}: {}", name.option, name.file, std::strerror(errno)));
}

void require_file(const struct stat& facts, const Named& name) {
    constexpr std::array<std::pair<mode_t, const char*>, 5> kOthers{{{S_IFDIR, "a folder"},
                                                                     {S_IFIFO, "a pipe"},
                                                                     {S_IFSOCK, "a socket"},
                                                                     {S_IFCHR, "a device"},
                                                                     {S_IFBLK, "a device"}}};
    for (const auto& [kind, word] : kOthers)
        if ((facts.st_mode & S_IFMT) == kind)
            throw UsageError(fmt::format("{}: {} is {}, not a file", name.option, name.file, word));
}

[[noreturn]] void refuse_writing(const std::filesystem::path& file) {
    throw std::system_error(errno, std::generic_category(), fmt::format("cannot write {}", file.string()));
}

// What a killed process of ours left under the name goes; anything else is not ours to remove.
int open_new(const std::filesystem::path& file) {
    constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    constexpr mode_t kMode = 0666; // the user's umask decides
    const int opened = open(file.c_str(), kFlags, kMode);
    if (opened >= 0 || errno != EEXIST) return opened;
    struct stat there {};
    const bool is_ours = lstat(file.c_str(), &there) == 0 && S_ISREG(there.st_mode) && there.st_uid == geteuid();
    if (!is_ours) {
        errno = EEXIST;
        return -1;
    }
    return unlink(file.c_str()) == 0 ? open(file.c_str(), kFlags, kMode) : -1;
}

bool is_written(int opened, std::string_view text) {
    while (!text.empty()) {
        const ssize_t length = write(opened, text.data(), text.size());
        if (length < 0 && errno == EINTR) continue;
        if (length < 0) return false;
        text.remove_prefix(static_cast<std::size_t>(length));
    }
    return fsync(opened) == 0 || errno == EINVAL || errno == ENOTSUP; // some file systems cannot
}

bool is_renamed(const std::filesystem::path& from, const std::filesystem::path& to, bool may_replace) {
    if (may_replace) return rename(from.c_str(), to.c_str()) == 0;
    if (renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return true;
    if (errno != EINVAL) return false;
    // The file system cannot promise it; a look before is the best there is.
    struct stat there {};
    if (lstat(to.c_str(), &there) != 0) return rename(from.c_str(), to.c_str()) == 0;
    errno = EEXIST;
    return false;
}

std::string bytes_of(std::string_view option, const std::filesystem::path& file, Bytes most) {
    const Named name{option, quote(file.string())};
    struct stat facts {};
    // Before it is opened: that alone can wait for another process, or move a tape.
    if (stat(file.c_str(), &facts) != 0) refuse_reading(name);
    require_file(facts, name);
    const Descriptor opened(open(file.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    if (opened.number() < 0 || fstat(opened.number(), &facts) != 0) refuse_reading(name);
    require_file(facts, name);

    // Files of /proc say that they have no bytes.
    std::string whole;
    std::array<char, 65536> some{};
    for (;;) {
        const ssize_t length = read(opened.number(), some.data(), some.size());
        if (length < 0 && errno == EINTR) continue;
        if (length < 0) refuse_reading(name); // half of it would pass for the file
        if (length == 0) return whole;
        whole.append(some.data(), static_cast<std::size_t>(length));
        if (whole.size() > most)
            throw UsageError(
                fmt::format("{}: {} has more than the {} that are read", option, name.file, format_bytes(most)));
    }
}

} // namespace

void write_text_file(const std::filesystem::path& file, std::string_view text, bool may_replace) {
    const std::filesystem::path partial = file.parent_path() / fmt::format(".{}.partial", file.filename().string());
    const Descriptor opened(open_new(partial));
    if (opened.number() < 0) refuse_writing(partial);
    if (is_written(opened.number(), text) && is_renamed(partial, file, may_replace)) return;
    const int error = errno;
    unlink(partial.c_str());
    errno = error;
    refuse_writing(file);
}

std::string read_text_file(std::string_view option, const std::filesystem::path& file, Bytes most) {
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
    std::string whole = bytes_of(option, file, most);
    if (whole.starts_with(kByteOrderMark)) whole.erase(0, kByteOrderMark.size());
    return whole;
}

std::string read_plain_text(std::string_view option, const std::filesystem::path& file, Bytes most) {
    std::string whole = bytes_of(option, file, most);
    if (whole.find('\0') != std::string::npos)
        throw UsageError(fmt::format("{}: {} is not a text file", option, quote(file.string())));
    return whole;
}

std::string first_line(const std::filesystem::path& file) {
    std::ifstream opened(file);
    std::string line;
    std::getline(opened, line);
    return line;
}

} // namespace a2aperf
