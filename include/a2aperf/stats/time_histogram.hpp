// SPDX-License-Identifier: BSD-3-Clause
// How many times were how long, however many there are: counts in buckets that are narrow beside what lies in them.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "a2aperf/base/units.hpp"

namespace a2aperf {

// Buckets of 1 ns below 2048 ns, and 1024 of equal width from each power of two to the next above, none of them
// wider than 1/1024 of what it begins with. As HdrHistogram has them (hdrhistogram.org). Times below 0 count as 0.
class TimeHistogram {
public:
    static constexpr int kBits = 10; // behind the first one, which a bucket tells apart
    static constexpr std::size_t kBuckets = std::size_t{64 - kBits} << kBits; // up to the longest time there is

    struct Bucket {
        Nanoseconds begin;
        std::int64_t count;
        bool operator==(const Bucket&) const = default;
    };

    static constexpr std::size_t index_of(Nanoseconds time) {
        const auto value = static_cast<std::uint64_t>(std::max<Nanoseconds>(time, 0));
        const int shift = shift_of(value);
        return (static_cast<std::size_t>(shift) << kBits) + static_cast<std::size_t>(value >> shift);
    }
    // Of a bucket that begins so: its times are begin ... begin + width - 1.
    static constexpr Nanoseconds width_of(Nanoseconds begin) {
        return Nanoseconds{1} << shift_of(static_cast<std::uint64_t>(begin));
    }
    static constexpr Nanoseconds middle_of(Nanoseconds begin) { return begin + (width_of(begin) - 1) / 2; }
    static constexpr Nanoseconds begin_of(std::size_t index) {
        const std::size_t shift = std::max(index >> kBits, std::size_t{1}) - 1;
        return static_cast<Nanoseconds>((index - (shift << kBits)) << shift);
    }

    // Without room until then; forgets what it has. add() allocates nothing.
    void reserve() { counts_.assign(kBuckets, 0); }
    bool has_room() const { return !counts_.empty(); }

    void add(Nanoseconds time, std::int64_t count = 1) { counts_[index_of(time)] += count; }

    std::int64_t total() const;
    std::vector<Bucket> buckets() const; // those that have times, ascending
    // The middle of the bucket that holds the index-th smallest, from 0: no further from it than half the width.
    // Throws std::out_of_range where there are not so many.
    Nanoseconds at(std::int64_t index) const;

private:
    // Of a width: its power of two.
    static constexpr int shift_of(std::uint64_t value) {
        return static_cast<int>(std::bit_width(value | (std::uint64_t{1} << kBits))) - (kBits + 1);
    }

    std::vector<std::int64_t> counts_;
};

} // namespace a2aperf
