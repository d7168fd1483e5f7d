// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/plan/due_times.hpp"

namespace a2aperf {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

} // namespace

std::string_view to_string(Arrivals arrivals) {
    return arrivals == Arrivals::even ? "even" : "poisson";
}

DueTimes::DueTimes(const DueRule& rule)
    : is_even_(rule.arrivals == Arrivals::even),
      mean_gap_(static_cast<double>(kSecond) / static_cast<double>(rule.rate)),
      random_(rule.seed ^ mix64(static_cast<std::uint64_t>(rule.pair))) {
    if (!is_even_) {
        draw();
        return;
    }
    // In units of 1 / (2 P rate) ns.
    denominator_ = 2 * rule.pairs * rule.rate;
    const std::int64_t first = kSecond * (2 * rule.pair + 1);
    const std::int64_t gap = kSecond * 2 * rule.pairs;
    next_ = first_ = first / denominator_;
    remainder_ = first % denominator_;
    step_ = gap / denominator_;
    step_remainder_ = gap % denominator_;
}

Nanoseconds longest_gap(const DueRule& rule) {
    constexpr std::int64_t kMeanGaps = 40;
    const std::int64_t gap = (kSecond + rule.rate - 1) / rule.rate;
    return rule.arrivals == Arrivals::even ? gap : kMeanGaps * gap;
}

} // namespace a2aperf
