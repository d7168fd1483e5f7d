// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/stats/impact.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "a2aperf/stats/percentile.hpp"

namespace a2aperf {

double mean_of_phase(std::span<Nanoseconds> times) {
    if (times.empty()) return kAbsent;
    return static_cast<double>(std::accumulate(times.begin(), times.end(), std::int64_t{0})) /
           static_cast<double>(times.size());
}

double quantile_of_phase(std::span<Nanoseconds> times, double q) {
    if (times.empty()) return kAbsent;
    const std::size_t at = percentile_index(times.size(), q, PercentileRule::rank);
    if (q > 0.5 && at == times.size() - 1) return kAbsent;
    std::ranges::nth_element(times, times.begin() + static_cast<std::ptrdiff_t>(at));
    return static_cast<double>(times[at]);
}

Impact impact_of(std::span<Alternation> alternations, const PhaseStatistic& statistic) {
    constexpr std::size_t kLeast = 6;
    std::vector<double> ratios;
    double alone = 0, loaded = 0;
    for (Alternation& one : alternations) {
        const double below = std::log(statistic(one.alone)), above = std::log(statistic(one.loaded));
        alone += below;
        loaded += above;
        ratios.push_back(above - below);
    }
    const auto n = static_cast<double>(ratios.size());
    Impact impact;
    if (ratios.empty() || !std::isfinite(alone) || !std::isfinite(loaded)) return impact;
    impact.alone = std::exp(alone / n);
    impact.loaded = std::exp(loaded / n);
    const double mean = (loaded - alone) / n;
    impact.ratio = std::exp(mean);
    if (ratios.size() < kLeast) return impact;
    double squares = 0;
    for (const double ratio : ratios) squares += (ratio - mean) * (ratio - mean);
    const double reach = student_quantile(n - 1) * std::sqrt(squares / (n - 1) / n);
    impact.interval = Interval{std::exp(mean - reach), std::exp(mean + reach)};
    return impact;
}

} // namespace a2aperf
