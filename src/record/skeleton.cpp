// SPDX-License-Identifier: BSD-3-Clause
#include "skeleton.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <fcntl.h>
#include <span>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include <fmt/format.h>
#include <zlib.h>

#include "checksum.hpp"
#include "crc32.hpp"
#include "digest.hpp"

namespace a2aperf {
namespace {

// Sectors of a disk are no larger: none that is damaged has a part of the copy and of what it is a copy of.
constexpr std::uint64_t kSector = 4096;
constexpr std::size_t kHeader = 64;
// In HDF5's oldest superblock, and there only, the length of the file.
constexpr std::size_t kVersionAt = 8, kLengthAt = 40;

bool is_measured(const h5::Dataset& dataset, const std::string& path, const std::string& name) {
    const bool is_of_plan = dataset.has_attribute(kChecksumAttribute) || path == "/digest";
    return !is_of_plan && !never_changes(dataset, path, name);
}

// Whether all were found. NOLINTNEXTLINE(misc-no-recursion): as deep as the groups that this program makes
bool add_places(const h5::Group& group, const std::string& path, std::vector<h5::Extent>& found) {
    for (const std::string& name : group.children()) {
        const std::string below = fmt::format("{}/{}", path, name);
        if (group.has_group(name.c_str())) {
            if (!add_places(group.open_group(name.c_str()), below, found)) return false;
            continue;
        }
        const h5::Dataset dataset = group.open_dataset(name.c_str());
        if (!is_measured(dataset, below, name)) continue;
        const auto places = dataset.places();
        if (!places) return false;
        found.insert(found.end(), places->begin(), places->end());
    }
    return true;
}

// A file that is read and written by itself, beside HDF5.
class PlainFile {
public:
    explicit PlainFile(const std::filesystem::path& file)
        : file_(file), descriptor_(open(file.c_str(), O_RDWR | O_CLOEXEC)) {
        if (descriptor_ < 0) fail("open");
    }
    PlainFile(const PlainFile&) = delete;
    PlainFile& operator=(const PlainFile&) = delete;
    ~PlainFile() { close(descriptor_); }

    std::uint64_t length() const {
        struct stat status {};
        if (fstat(descriptor_, &status) != 0) fail("read");
        return static_cast<std::uint64_t>(status.st_size);
    }

    void read(std::span<char> bytes, std::uint64_t offset) const {
        go("read", bytes, offset,
           [&](char* data, std::size_t size, off_t at) { return pread(descriptor_, data, size, at); });
    }

    void write(std::span<const char> bytes, std::uint64_t offset) const {
        go("write", bytes, offset,
           [&](const char* data, std::size_t size, off_t at) { return pwrite(descriptor_, data, size, at); });
    }

private:
    template <class Char, class Call>
    void go(const char* verb, std::span<Char> bytes, std::uint64_t offset, Call call) const {
        while (!bytes.empty()) {
            errno = EIO; // of a file that ends here
            const ssize_t done = call(bytes.data(), bytes.size(), static_cast<off_t>(offset));
            if (done < 0 && errno == EINTR) continue;
            if (done <= 0) fail(verb);
            bytes = bytes.subspan(static_cast<std::size_t>(done));
            offset += static_cast<std::uint64_t>(done);
        }
    }

    [[noreturn]] void fail(const char* verb) const {
        throw std::system_error(errno, std::generic_category(),
                                fmt::format("cannot {} {}", verb, h5::shown(file_)));
    }

    std::filesystem::path file_;
    int descriptor_;
};

void append_number(std::string& bytes, std::uint64_t number) {
    for (unsigned shift = 0; shift < 64; shift += 8) bytes += static_cast<char>(number >> shift & 0xFFU);
}

// What lies between the measurements, each part with its offset and its length before it.
std::string parts_between(std::vector<h5::Extent> measurements, const PlainFile& file, std::uint64_t length) {
    measurements.push_back({length, 0});
    std::ranges::sort(measurements, {}, &h5::Extent::offset);
    std::string parts;
    std::uint64_t at = 0;
    for (const h5::Extent& place : measurements) {
        if (place.offset > at) {
            const std::uint64_t bytes = place.offset - at;
            append_number(parts, at);
            append_number(parts, bytes);
            const std::size_t before = parts.size();
            parts.resize(before + bytes);
            file.read(std::span(parts).subspan(before), at);
        }
        at = std::max(at, place.offset + place.bytes);
    }
    return parts;
}

std::string compressed(const std::string& bytes) {
    uLongf size = compressBound(bytes.size());
    std::string packed(size, '\0');
    if (compress(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(bytes.data()),
                 bytes.size()) != Z_OK)
        throw std::system_error(ENOMEM, std::generic_category(), "cannot compress the structure of the file");
    packed.resize(size);
    return packed;
}

std::uint64_t whole_sectors(std::uint64_t bytes) {
    return (bytes + kSector - 1) / kSector * kSector;
}

} // namespace

std::optional<std::vector<h5::Extent>> places_of_measurements(const h5::File& file) {
    std::vector<h5::Extent> found;
    if (!add_places(file, "", found)) return std::nullopt;
    return found;
}

void append_skeleton(const std::filesystem::path& file, std::vector<h5::Extent> measurements) {
    constexpr std::size_t kSlack = 64; // another length in it may take a few bytes more
    constexpr std::size_t kPartHead = 16;
    const PlainFile bytes(file);
    const std::uint64_t length = bytes.length();
    std::string parts = parts_between(std::move(measurements), bytes, length);
    if (parts.size() < kPartHead + kLengthAt + sizeof length || parts[kPartHead + kVersionAt] != 0) return;
    const std::uint64_t begin = whole_sectors(length);
    const std::uint64_t end = whole_sectors(begin + kHeader + compressed(parts).size() + kSlack);
    std::string new_length;
    append_number(new_length, end);
    parts.replace(kPartHead + kLengthAt, new_length.size(), new_length);
    const std::string packed = compressed(parts);
    Crc32 crc;
    crc.add(packed);
    std::string copy =
        fmt::format("a2aperf skeleton v1 crc32={:08x} bytes={:022d}\n{}", crc.value(), packed.size(), packed);
    copy.resize(std::max<std::size_t>(copy.size(), end - begin));
    bytes.write(copy, begin);
    bytes.write(new_length, kLengthAt);
}

} // namespace a2aperf
