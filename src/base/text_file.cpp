// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/base/text_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
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

} // namespace

std::string read_text_file(std::string_view option, const std::filesystem::path& file, Bytes most) {
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

std::string read_plain_text(std::string_view option, const std::filesystem::path& file, Bytes most) {
    std::string whole = read_text_file(option, file, most);
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
