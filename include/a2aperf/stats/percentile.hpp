// SPDX-License-Identifier: BSD-3-Clause
// Percentiles by the two rules that are in use.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "a2aperf/base/units.hpp"

namespace a2aperf {

// rank: the ceil(q*n)-th smallest (nearest rank). index: sorted[int(q*n)], the rule of the 2019 table, in
// which the p99 of 100 ops is the maximum.
enum class PercentileRule { rank, index };

std::string_view to_string(PercentileRule rule);

// Index into n sorted values, n > 0, 0 <= q <= 1. Equal to n - 1 where the percentile is the maximum.
std::size_t percentile_index(std::size_t n, double q, PercentileRule rule);

// sorted must be ascending and not empty, 0 <= q <= 1.
Nanoseconds percentile(std::span<const Nanoseconds> sorted, double q, PercentileRule rule);

// In any order; NaN of none.
double median(std::vector<Nanoseconds> values, PercentileRule rule);

} // namespace a2aperf
