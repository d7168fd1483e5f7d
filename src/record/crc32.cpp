// SPDX-License-Identifier: BSD-3-Clause
#include "crc32.hpp"

#include <array>

#include <zlib.h>

namespace a2aperf {

namespace {

std::uint32_t extended(std::uint32_t value, std::span<const char> bytes) {
    if (bytes.empty()) return value; // for zlib no address is the wish for a first value
    return static_cast<std::uint32_t>(crc32_z(value, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

// a · b modulo the polynomial of CRC-32; the highest bit is the coefficient of x^0.
std::uint32_t product(std::uint32_t a, std::uint32_t b) {
    constexpr std::uint32_t kPolynomial = 0xedb88320;
    std::uint32_t sum = 0;
    for (std::uint32_t bit = 1U << 31U; bit != 0; bit >>= 1U) {
        if ((a & bit) != 0) sum ^= b;
        b = (b & 1U) != 0 ? b >> 1U ^ kPolynomial : b >> 1U;
    }
    return sum;
}

// x^(8 · 2^k), from k = 0: by these a checksum is multiplied when so many bytes follow.
using Powers = std::array<std::uint32_t, 64>;
const Powers kPowers = [] {
    Powers powers{1U << 23U};
    for (std::size_t k = 1; k < powers.size(); ++k) powers[k] = product(powers[k - 1], powers[k - 1]);
    return powers;
}();

// Of both streams, one behind the other. crc32_combine() took 77 µs for it up to zlib 1.2.11, which clusters still
// have, and there are 40,000 of these in a point of many ranks.
std::uint32_t joined(std::uint32_t first, std::uint32_t second, std::uint64_t bytes_of_second) {
    for (std::size_t k = 0; bytes_of_second > 0; bytes_of_second >>= 1U, ++k)
        if ((bytes_of_second & 1U) != 0) first = product(kPowers[k], first);
    return first ^ second;
}

} // namespace

void Crc32::add(std::span<const char> bytes) {
    value_ = extended(value_, bytes);
}

// In as many steps as `times` has bits.
void Crc32::add_repeated(std::span<const char> bytes, std::uint64_t times) {
    std::uint32_t some = extended(0, bytes);
    for (std::uint64_t length = bytes.size(); times > 0; times >>= 1U, length *= 2) {
        if ((times & 1U) != 0) value_ = joined(value_, some, length);
        some = joined(some, some, length);
    }
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

std::int64_t crc32_of_change(std::span<const char> before, std::span<const char> after,
                             std::uint64_t bytes_behind) {
    return joined(extended(0, before) ^ extended(0, after), 0, bytes_behind);
}

} // namespace a2aperf
