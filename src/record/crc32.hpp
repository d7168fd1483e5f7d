// SPDX-License-Identifier: BSD-3-Clause
// zlib's CRC-32 over parts that follow one another.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace a2aperf {

// In the file where there is none yet.
inline constexpr std::int64_t kNoChecksum = -1;

class Crc32 {
public:
    void add(std::span<const char> bytes);
    void add_text(std::string_view text); // with a NUL behind it
    void add_count(std::uint64_t count);  // 8 bytes, the lowest first
    void add_repeated(std::span<const char> bytes, std::uint64_t times);
    std::int64_t value() const { return value_; } // 0 … 2^32 - 1

private:
    std::uint32_t value_ = 0;
};

// What the checksum of a stream is to be XORed with when bytes of it change, so many before its end: CRC-32 is
// linear. Both of the same length.
std::int64_t crc32_of_change(std::span<const char> before, std::span<const char> after, std::uint64_t bytes_behind);

} // namespace a2aperf
