// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/stats/round_trips.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace a2aperf {

double under_way(const RoundTrips& trips) {
    if (trips.count == 0 || trips.time <= 0) return kAbsent;
    return static_cast<double>(trips.total - trips.waited) / static_cast<double>(trips.time);
}

bool keeps_littles_law(const RoundTrips& trips) {
    return trips.total - trips.waited + trips.idle + trips.open == trips.places * trips.time;
}

Summary summarise_round_trips(std::span<const Nanoseconds> kept, PercentileRule rule) {
    Summary summary = summarise_series(kept, rule);
    if (summary.count == 0) return summary;
    std::vector<Nanoseconds> sorted(kept.begin(), kept.end());
    std::sort(sorted.begin(), sorted.end());
    const auto tail = [&](double q) {
        const std::size_t at = percentile_index(sorted.size(), q, rule);
        return at == sorted.size() - 1 ? kAbsent : static_cast<double>(sorted[at]);
    };
    summary.p90 = tail(0.9);
    summary.p99 = tail(0.99);
    summary.p999 = tail(0.999);
    summary.p99_is_max = false;
    return summary;
}

int most_buckets(Nanoseconds total) {
    std::size_t count = 0;
    while (count < TimeHistogram::kBuckets && TimeHistogram::begin_of(count) <= total)
        total -= TimeHistogram::begin_of(count++);
    return static_cast<int>(count);
}

namespace {

// By the middles of the buckets.
double deviation_of(const TimeHistogram& all, double mean, double n) {
    if (n < 2) return kAbsent;
    double squares = 0;
    for (const auto& [begin, count] : all.buckets()) {
        const double deviation = static_cast<double>(TimeHistogram::middle_of(begin)) - mean;
        squares += deviation * deviation * static_cast<double>(count);
    }
    return std::sqrt(squares / (n - 1));
}

} // namespace

Summary summarise_round_trips(const TimeHistogram& all, Nanoseconds total, Nanoseconds shortest,
                              Nanoseconds longest, PercentileRule rule) {
    Summary summary;
    const auto n = static_cast<std::size_t>(all.total());
    summary.count = n;
    if (n == 0) return summary;
    summary.min = static_cast<double>(shortest);
    summary.max = static_cast<double>(longest);
    summary.mean = static_cast<double>(total) / static_cast<double>(n);
    summary.stddev = deviation_of(all, summary.mean, static_cast<double>(n));
    const auto at = [&](double q) {
        const std::size_t index = percentile_index(n, q, rule);
        return static_cast<double>(std::clamp(all.at(static_cast<std::int64_t>(index)), shortest, longest));
    };
    const auto tail = [&](double q) { return percentile_index(n, q, rule) == n - 1 ? kAbsent : at(q); };
    summary.p50 = at(0.5);
    summary.p90 = tail(0.9);
    summary.p99 = tail(0.99);
    summary.p999 = tail(0.999);
    return summary;
}

} // namespace a2aperf
