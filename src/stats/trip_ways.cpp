// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/stats/trip_ways.hpp"

#include <algorithm>

#include "a2aperf/stats/percentile.hpp"

namespace a2aperf {

std::vector<Nanoseconds> trip_parts(const Samples& samples, TripPart part) {
    const auto came = samples.own.find(kRequestCame);
    if (came == samples.own.end()) return {};
    const auto& begins = samples.own.at(kRequestBegin);
    const auto& trips = samples.own.at(kRoundTrip);
    const auto& answers = samples.own.at(kAnswerBegin);
    std::vector<Nanoseconds> times;
    times.reserve(trips.size());
    for (std::size_t i = 0; i < trips.size(); ++i) {
        if (trips[i] == kNoMoment || came->second[i] == kNoMoment) continue;
        const Nanoseconds moments[] = {begins[i], came->second[i], answers[i], begins[i] + trips[i]};
        const auto first = static_cast<std::size_t>(part);
        times.push_back(moments[first + 1] - moments[first]);
    }
    return times;
}

double way_bound(const Samples& samples, std::span<const StreamPair> pairs) {
    const auto clock_of = [&](Rank rank) {
        const auto at = static_cast<std::size_t>(rank);
        return at < samples.clock_of_rank.size() ? samples.clock_of_rank[at] : 0;
    };
    double clocks = 0; // that are held against rank 0's
    for (const StreamPair& pair : pairs) {
        const int one = clock_of(pair.from), other = clock_of(pair.to);
        if (one != other) clocks = std::max(clocks, one == 0 || other == 0 ? 1.0 : 2.0);
    }
    return clocks * samples.clock_error_ns;
}

bool tells_ways(double bound_ns, double trip_p50_ns) {
    constexpr double kLargestBound = 0.05; // as of a start by the clock
    return bound_ns <= kLargestBound * trip_p50_ns;
}

double part_percentile(std::vector<Nanoseconds> times, double q) {
    if (times.empty()) return kAbsent;
    const std::size_t at = percentile_index(times.size(), q, PercentileRule::rank);
    if (q > 0.5 && at == times.size() - 1) return kAbsent;
    std::ranges::nth_element(times, times.begin() + static_cast<std::ptrdiff_t>(at));
    return static_cast<double>(times[at]);
}

} // namespace a2aperf
