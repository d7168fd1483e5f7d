// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/stats/paired_ratio.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <vector>

#include "a2aperf/stats/percentile.hpp"

namespace a2aperf {
namespace {

constexpr double kLevel = 0.05;
constexpr std::size_t kLeastUnits = 6;
constexpr std::size_t kMostUnits = 12;

// Of A B B A each; in time order.
std::vector<double> log_ratios(std::span<const Block> first, std::span<const Block> second) {
    std::vector<double> units;
    const auto is_whole = [&](std::size_t pair) { return !first[pair].empty() && !second[pair].empty(); };
    const auto log_ratio = [&](std::size_t pair) {
        return std::log(median(first[pair], PercentileRule::rank) / median(second[pair], PercentileRule::rank));
    };
    for (std::size_t pair = 0; pair + 1 < std::min(first.size(), second.size()); pair += 2)
        if (is_whole(pair) && is_whole(pair + 1)) units.push_back((log_ratio(pair) + log_ratio(pair + 1)) / 2);
    return units;
}

// Means of neighbours, as many in each as leaves no more than kMostUnits; a rest of fewer is left out.
std::vector<double> put_together(const std::vector<double>& values) {
    const std::size_t together = (values.size() + kMostUnits - 1) / kMostUnits;
    if (together <= 1) return values;
    std::vector<double> means;
    for (auto at = values.begin(); values.end() - at >= static_cast<std::ptrdiff_t>(together);
         at += static_cast<std::ptrdiff_t>(together))
        means.push_back(std::accumulate(at, at + static_cast<std::ptrdiff_t>(together), 0.0) /
                        static_cast<double>(together));
    return means;
}

} // namespace

double student_tails(double t, int nu) {
    const double theta = std::atan(t / std::sqrt(static_cast<double>(nu)));
    const double cos2 = std::cos(theta) * std::cos(theta);
    double term = nu % 2 == 0 ? 1 : std::cos(theta);
    double sum = nu == 1 ? 0 : term;
    for (int k = nu % 2 == 0 ? 2 : 3; k < nu - 1; k += 2) {
        term *= cos2 * (k - 1) / k;
        sum += term;
    }
    const double inside =
        nu % 2 == 0 ? std::sin(theta) * sum : 2 / std::numbers::pi * (theta + std::sin(theta) * sum);
    return 1 - inside;
}

double student_limit(double tails, int nu) {
    double low = 0;
    double high = 1;
    while (student_tails(high, nu) > tails) high *= 2;
    for (int step = 0; step < 60; ++step) {
        const double middle = (low + high) / 2;
        (student_tails(middle, nu) > tails ? low : high) = middle;
    }
    return high;
}

Verdict PairedRatio::verdict() const {
    if (!interval || (interval->low <= 1 && interval->high >= 1)) return Verdict::undecided;
    return interval->low > 1 ? Verdict::faster : Verdict::slower;
}

PairedRatio paired_ratio(std::span<const Block> first, std::span<const Block> second, std::size_t family) {
    const std::vector<double> units = put_together(log_ratios(first, second));
    PairedRatio found{.ratio = std::numeric_limits<double>::quiet_NaN(), .units = units.size()};
    if (units.empty()) return found;
    const auto n = static_cast<double>(units.size());
    const double mean = std::accumulate(units.begin(), units.end(), 0.0) / n;
    found.ratio = std::exp(mean);
    if (units.size() < kLeastUnits) return found;
    double squares = 0;
    for (const double unit : units) squares += (unit - mean) * (unit - mean);
    const double limit = student_limit(kLevel / static_cast<double>(std::max<std::size_t>(family, 1)),
                                       static_cast<int>(units.size()) - 1);
    const double reach = limit * std::sqrt(squares / (n - 1) / n);
    found.interval = Interval{std::exp(mean - reach), std::exp(mean + reach)};
    return found;
}

} // namespace a2aperf
