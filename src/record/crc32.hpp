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
    void add_text(std::string_view text);         // with a NUL behind it
    void add_count(std::uint64_t count);          // 8 bytes, the lowest first
    std::int64_t value() const { return value_; } // 0 … 2^32 - 1

private:
    std::uint32_t value_ = 0;
};

} // namespace a2aperf
