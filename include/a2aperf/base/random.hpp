// SPDX-License-Identifier: BSD-3-Clause
// A small counter-based generator: the same numbers on every rank, host and compiler.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace a2aperf {

// One step of SplitMix64's output function (Steele, Lea, Flood: Fast Splittable Pseudorandom Number
// Generators, OOPSLA 2014): a bijection of 64 bits that mixes well.
constexpr std::uint64_t mix64(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15U;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
    return x ^ (x >> 31);
}

class Random {
public:
    // The seed is mixed first: otherwise seed 2 would give seed 1's numbers, one later.
    explicit constexpr Random(std::uint64_t seed) : state_(mix64(seed)) {}

    constexpr std::uint64_t next() { return mix64(state_++ * 0x9e3779b97f4a7c15U); }

    // Uniform in [0, bound), bound > 0 (multiply-shift; the bias is below 2^-32 for bound < 2^32).
    constexpr std::uint64_t below(std::uint64_t bound) {
        return static_cast<std::uint64_t>((static_cast<Wide>(next()) * bound) >> 64);
    }

    // Fisher-Yates.
    template <class T>
    constexpr void shuffle(std::span<T> items) {
        for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[below(i)]);
    }

private:
    __extension__ using Wide = unsigned __int128;
    std::uint64_t state_;
};

} // namespace a2aperf
