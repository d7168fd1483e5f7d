// SPDX-License-Identifier: BSD-3-Clause
// What one rank counted in each tick of a duration: named columns along time.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "a2aperf/base/units.hpp"

namespace a2aperf {

class TickSamples {
public:
    // counters: the names of what is counted, a column each.
    explicit TickSamples(std::span<const std::string_view> counters);

    // Makes room for so many rows, of which the last is for end(), and forgets what there is; nothing else
    // allocates.
    void reserve(std::size_t rows);

    // A tick that ends here: the moment is an offset from the duration's start, totals are the counters since then.
    // Keeps what was added since the last tick; where there is no room it is lost, and counted as such.
    void take(Nanoseconds moment, std::span<const std::uint64_t> totals);
    // What came after the last tick: a row, be there anything in it or not, that is no tick. Where ticks were lost
    // there is none: nobody could tell what is theirs of it.
    void end(Nanoseconds moment, std::span<const std::uint64_t> totals);

    std::size_t size() const { return size_; } // rows
    std::size_t lost() const { return lost_; } // ticks, for lack of room
    std::size_t taken() const { return size_ + lost_; }
    std::span<const Nanoseconds> moments() const { return std::span(moments_).first(size_); }
    // Throws std::out_of_range where nothing is counted by that name.
    std::span<const std::uint64_t> column(std::string_view counter) const;

private:
    void keep(Nanoseconds moment, std::span<const std::uint64_t> totals);

    std::vector<std::string_view> counters_;
    std::vector<Nanoseconds> moments_;
    std::vector<std::vector<std::uint64_t>> columns_; // of each counter
    std::vector<std::uint64_t> last_;                 // totals
    std::size_t size_ = 0, lost_ = 0;
};

} // namespace a2aperf
