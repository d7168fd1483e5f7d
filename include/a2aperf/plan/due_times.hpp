// SPDX-License-Identifier: BSD-3-Clause
// When messages are due that come at a rate, whatever becomes of those before them.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>

#include "a2aperf/base/random.hpp"
#include "a2aperf/base/units.hpp"

namespace a2aperf {

enum class Arrivals { even, poisson };
std::string_view to_string(Arrivals arrivals);

// Of the messages from one rank to another, which are one of so many such pairs.
struct DueRule {
    Arrivals arrivals = Arrivals::even;
    std::int64_t rate = 1; // per second, of each pair
    int pair = 0, pairs = 1;
    std::uint64_t seed = 1;
};

// Evenly: message k of pair p of P is due (k + (p + 1/2) / P) / rate after the start, to the whole ns below,
// exactly however many there are, so that those of all pairs together are even, too. Poisson: the times between
// them are -ln(u) / rate, with u uniform in (0, 1] and drawn from the seed for each pair by itself.
class DueTimes {
public:
    explicit DueTimes(const DueRule& rule);

    // After the start.
    Nanoseconds next() const { return next_; }

    // On to the one behind it.
    void pop() {
        if (is_even_) {
            next_ += step_;
            remainder_ += step_remainder_;
            if (remainder_ >= denominator_) {
                remainder_ -= denominator_;
                ++next_;
            }
            return;
        }
        passed_ = next_;
        draw();
    }

    // For how long those before the next one keep the rate: evenly so many gaps, else until the last of them.
    Nanoseconds passed() const { return is_even_ ? next_ - first_ : passed_; }

private:
    void draw() {
        constexpr double kUnit = 0x1p-53;
        const double u = static_cast<double>((random_.next() >> 11U) + 1) * kUnit;
        total_ -= std::log(u) * mean_gap_;
        next_ = total_ < kLatest ? static_cast<Nanoseconds>(total_) : std::numeric_limits<Nanoseconds>::max();
    }

    static constexpr double kLatest = 9e18;

    bool is_even_;
    Nanoseconds next_ = 0;
    Nanoseconds first_ = 0, step_ = 0;
    std::int64_t remainder_ = 0, step_remainder_ = 0, denominator_ = 1; // of next_ and step_
    Nanoseconds passed_ = 0;
    double total_ = 0, mean_gap_ = 0;
    Random random_;
};

// So long may pass between two of them: of Poisson's, once in e^40 gaps longer.
Nanoseconds longest_gap(const DueRule& rule);

} // namespace a2aperf
