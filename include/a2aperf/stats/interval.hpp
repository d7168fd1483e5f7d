// SPDX-License-Identifier: BSD-3-Clause
// How sure a median is.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "a2aperf/base/units.hpp"

namespace a2aperf {

struct Interval {
    double low;
    double high;
};

enum class IntervalKind { none = 0, order_statistics = 1, block_bootstrap = 2 };

// How far the further end of a median's interval is from it, as a share of it. Slow ops make the two ends unlike.
double reach(const Interval& interval, double median);

// 97.5 % quantile of Student's t, nu >= 5: Cornish-Fisher expansion (Abramowitz & Stegun 26.7.5), 0.2 % off at 5.
double student_quantile(double nu);

// Ranks, from 1, of the two order statistics of independent values that enclose the q-quantile with 95 %: on
// either side it lies outside with at most 2.5 %, by the binomial distribution (Hoefler & Belli, SC'15). For
// q = 0.5, n = 100: the 40th and the 61st. Nothing where the sample is too small: the median needs n >= 6, p99
// n >= 368, p99.9 n >= 3688.
struct RankPair {
    std::size_t low;
    std::size_t high;
};
std::optional<RankPair> quantile_interval_ranks(std::size_t n, double q);
// The values at those ranks; sorted is ascending.
std::optional<Interval> quantile_interval(std::span<const Nanoseconds> sorted, double q);

// Lag-1 autocorrelation of values in time order; NaN for fewer than 3 values or where all are equal.
double autocorrelation(std::span<const Nanoseconds> values);

struct SeriesInterval {
    std::optional<Interval> interval;
    IntervalKind kind = IntervalKind::none;
};

// 95 % interval of the q-quantile of values in time order. Order statistics; where the lag-1 autocorrelation of
// the values' ranks (one slow op does not hide it) exceeds 1.645/sqrt(n), the order statistics that the block
// bootstrap of the number of values below the quantile gives. That bootstrap needs no drawing: its variance is
// known (Kuensch, Ann. Statist. 17, 1989), and so is the quantile that belongs to it for a finite number of
// blocks (Kiefer & Vogelsang, Econometric Theory 21, 2005).
SeriesInterval series_interval(std::span<const Nanoseconds> values, double q);
inline SeriesInterval median_interval(std::span<const Nanoseconds> values) {
    return series_interval(values, 0.5);
}

// 95 % interval of median(numerator)/median(denominator), measured in alternating blocks of ops: the i-th of either
// side were neighbours. They are resampled together; the interval is widened from the normal to Student's quantile
// (Hesterberg, The American Statistician 69, 2015). A pair one side of which is empty, or has no partner, is left
// out. Nothing for fewer than 6 pairs of blocks. Deterministic.
using Block = std::vector<Nanoseconds>;
std::optional<Interval> ratio_interval(std::span<const Block> numerator, std::span<const Block> denominator);

} // namespace a2aperf
