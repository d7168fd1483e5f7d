// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/stats/round_trips.hpp"

#include <algorithm>
#include <vector>

namespace a2aperf {

double under_way(const RoundTrips& trips) {
    if (trips.count == 0 || trips.time <= 0) return kAbsent;
    return static_cast<double>(trips.total) / static_cast<double>(trips.time);
}

bool keeps_littles_law(const RoundTrips& trips) {
    return trips.total + trips.idle + trips.open == trips.places * trips.time;
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

} // namespace a2aperf
