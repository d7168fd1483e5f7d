// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/stats/percentile.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace a2aperf {

std::string_view to_string(PercentileRule rule) {
    return rule == PercentileRule::rank ? "rank" : "index";
}

std::size_t percentile_index(std::size_t n, double q, PercentileRule rule) {
    if (n == 0) throw std::invalid_argument("percentile of no values");
    // Rounded to 1e-9 first: 0.07 * 100 is 7.000000000000001 in floating point and would count as 8.
    const double position = std::round(q * static_cast<double>(n) * 1e9) / 1e9;
    const double index = rule == PercentileRule::rank ? std::ceil(position) - 1 : std::floor(position);
    return static_cast<std::size_t>(std::clamp(index, 0.0, static_cast<double>(n - 1)));
}

Nanoseconds percentile(std::span<const Nanoseconds> sorted, double q, PercentileRule rule) {
    return sorted[percentile_index(sorted.size(), q, rule)];
}

double median(std::vector<Nanoseconds> values, PercentileRule rule) {
    if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(percentile_index(values.size(), 0.5, rule));
    std::nth_element(values.begin(), middle, values.end());
    return static_cast<double>(*middle);
}

} // namespace a2aperf
