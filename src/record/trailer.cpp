// SPDX-License-Identifier: BSD-3-Clause
#include "trailer.hpp"

#include <cerrno>
#include <cstdint>
#include <fcntl.h>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>

#include "crc32.hpp"
#include "h5.hpp"

namespace a2aperf {
namespace {

constexpr std::size_t kBytes = 64;

std::string text_of(std::int64_t crc, std::uint64_t bytes) {
    return fmt::format("a2aperf digest v1 crc32={:08x} bytes={:024d}\n", crc, bytes);
}

// Nothing where that many cannot be read.
std::optional<std::int64_t> crc_of_first(std::ifstream& stream, std::uint64_t bytes) {
    constexpr std::uint64_t kAtOnce = 1U << 20U;
    std::vector<char> part(kAtOnce);
    Crc32 crc;
    stream.seekg(0);
    while (bytes > 0) {
        const std::uint64_t some = std::min(bytes, kAtOnce);
        if (!stream.read(part.data(), static_cast<std::streamsize>(some))) return std::nullopt;
        crc.add(std::span(part).first(some));
        bytes -= some;
    }
    return crc.value();
}

// What is left of one that is itself damaged, or has something behind it.
bool is_trace(std::string_view last) {
    for (const std::string_view word : {"a2aperf digest", " crc32=", " bytes="})
        if (last.find(word) != std::string_view::npos) return true;
    return false;
}

} // namespace

Trailer look_at_trailer(const std::filesystem::path& file) {
    std::error_code error;
    const std::uint64_t size = std::filesystem::file_size(file, error);
    if (error || size < kBytes) return Trailer::none;
    std::ifstream stream(file, std::ios::binary);
    std::string last(kBytes, '\0');
    stream.seekg(static_cast<std::streamoff>(size - kBytes));
    if (!stream.read(last.data(), kBytes)) return Trailer::wrong;
    if (!is_trace(last)) return Trailer::none;
    const auto crc = crc_of_first(stream, size - kBytes);
    return crc && last == text_of(*crc, size - kBytes) ? Trailer::right : Trailer::wrong;
}

void append_trailer(const std::filesystem::path& file) {
    const auto fail = [&](const char* verb) {
        throw std::system_error(errno, std::generic_category(), fmt::format("cannot {} {}", verb, h5::shown(file)));
    };
    std::ifstream stream(file, std::ios::binary);
    const std::uint64_t size = std::filesystem::file_size(file);
    const auto crc = crc_of_first(stream, size);
    if (!crc) fail("read");
    const std::string text = text_of(*crc, size);
    const int descriptor = open(file.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
    if (descriptor < 0) fail("open");
    std::string_view left = text;
    while (!left.empty()) {
        const ssize_t written = write(descriptor, left.data(), left.size());
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) break;
        left.remove_prefix(static_cast<std::size_t>(written));
    }
    const int error = errno;
    close(descriptor);
    errno = error;
    if (!left.empty()) fail("write");
}

} // namespace a2aperf
