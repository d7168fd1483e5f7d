// SPDX-License-Identifier: BSD-3-Clause
#include "crc32.hpp"

#include <array>

#include <zlib.h>

namespace a2aperf {

void Crc32::add(std::span<const char> bytes) {
    value_ =
        static_cast<std::uint32_t>(crc32_z(value_, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

void Crc32::add_text(std::string_view text) {
    constexpr char kEnd = '\0';
    if (!text.empty()) add(text);
    add(std::span(&kEnd, 1));
}

void Crc32::add_count(std::uint64_t count) {
    std::array<char, sizeof count> bytes{};
    for (char& byte : bytes) {
        byte = static_cast<char>(count & 0xFFU);
        count >>= 8U;
    }
    add(bytes);
}

} // namespace a2aperf
