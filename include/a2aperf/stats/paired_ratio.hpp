// SPDX-License-Identifier: BSD-3-Clause
// How many times as fast one setting is as another that was measured in alternation with it.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "a2aperf/stats/interval.hpp"

namespace a2aperf {

enum class Verdict { faster, slower, undecided };

struct PairedRatio {
    double ratio = 0;      // above 1: the second is the faster one; NaN without a unit
    std::size_t units = 0; // independent values behind it
    std::optional<Interval> interval{};

    Verdict verdict() const; // undecided without an interval, too
};

// Of blocks of op times, measured as A B, B A, A B, …: first[i] and second[i] were neighbours. A unit is A B B A,
// in which a steady drift cancels out: the mean of the logarithms of median(first) / median(second). Of many,
// neighbours are put together until at most 12 are left, so that what lasts for a few blocks is within one. The
// ratio is their geometric mean, with the interval of Student's t at 95 % for all comparisons of the family
// together (Bonferroni). No interval of fewer than 6 units. A pair one side of which is empty makes its unit be
// left out.
PairedRatio paired_ratio(std::span<const Block> first, std::span<const Block> second, std::size_t family);

// P(|T| > t) of Student's t with nu >= 1 degrees of freedom: the finite sums of Abramowitz & Stegun 26.7.3
// and 26.7.4.
double student_tails(double t, int nu);

// The t beyond which lies as much as `tails`, both taken together.
double student_limit(double tails, int nu);

} // namespace a2aperf
