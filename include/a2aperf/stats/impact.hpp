// SPDX-License-Identifier: BSD-3-Clause
// How much longer round trips take under load than alone, measured in alternation.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "a2aperf/base/units.hpp"
#include "a2aperf/stats/bandwidth.hpp"
#include "a2aperf/stats/interval.hpp"

namespace a2aperf {

// One alternation: the times of its two phases, in any order.
struct Alternation {
    std::vector<Nanoseconds> alone, loaded;
};

// Of the times of one phase, whose order it may change; NaN where they are too few for it.
using PhaseStatistic = std::function<double(std::span<Nanoseconds> times)>;
double mean_of_phase(std::span<Nanoseconds> times);
// By nearest rank; above the median none that would be the longest.
double quantile_of_phase(std::span<Nanoseconds> times, double q);

struct Impact {
    double alone = kAbsent, loaded = kAbsent; // geometric means over the alternations, ns
    double ratio = kAbsent;                   // loaded / alone, of these
    std::optional<Interval> interval{};       // of the ratio, 95 %
};

// The mean of the logarithms of the alternations' ratios, and Student's interval of it: alternations are what is
// independent, not round trips. All is absent where a phase has too few times for the statistic; the interval for
// less than 6 alternations, too.
Impact impact_of(std::span<Alternation> alternations, const PhaseStatistic& statistic);

} // namespace a2aperf
