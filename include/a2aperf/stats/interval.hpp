// SPDX-License-Identifier: BSD-3-Clause
// How sure a median is.
#pragma once

#include <cstdint>
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

// 95 % interval of the q-quantile from order statistics of independent values (Hoefler & Belli, SC'15; for
// q = 0.5, n = 100: the 40th and the 61st value). Nothing where the sample is too small: p99 needs n >= 368.
// 1-based ranks.
struct RankPair {
    std::size_t low;
    std::size_t high;
};
std::optional<RankPair> quantile_interval_ranks(std::size_t n, double q);
std::optional<Interval> quantile_interval(std::span<const Nanoseconds> sorted, double q);

// Lag-1 autocorrelation of values in time order; 0 for fewer than 3 values or no variance.
double autocorrelation(std::span<const Nanoseconds> values);

struct MedianInterval {
    std::optional<Interval> interval;
    IntervalKind kind = IntervalKind::none;
};

// Interval of the median of values in time order: order statistics, or a moving-block bootstrap where the
// lag-1 autocorrelation exceeds what independent values show (|rho| > 1.96/sqrt(n)). Deterministic.
MedianInterval median_interval(std::span<const Nanoseconds> values);

// Interval of median(numerator)/median(denominator), measured in alternating blocks of block_size ops:
// whole blocks are resampled in pairs. Nothing for fewer than 6 pairs of blocks. Deterministic.
std::optional<Interval> ratio_interval(std::span<const Nanoseconds> numerator,
                                       std::span<const Nanoseconds> denominator, std::size_t block_size);

} // namespace a2aperf
