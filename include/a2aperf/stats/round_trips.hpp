// SPDX-License-Identifier: BSD-3-Clause
// Round trips of requests and their answers: their summary, and whether their times agree with their number.
#pragma once

#include <cstdint>
#include <span>

#include "a2aperf/stats/summary.hpp"
#include "a2aperf/stats/time_histogram.hpp"

namespace a2aperf {

// All of one client, whether each is kept or not; times in ns.
struct RoundTrips {
    std::int64_t places = 1; // requests that may be under way
    std::int64_t count = 0;
    Nanoseconds total = 0;                 // of their times
    Nanoseconds idle = 0;                  // that its places had no request under way
    Nanoseconds open = 0;                  // that requests were under way which had no answer in the end
    Nanoseconds shortest = 0, longest = 0; // 0 where there is none
    Nanoseconds time = 0;                  // from the first request to the last answer
    Nanoseconds waited = 0;                // of their times: that requests were due and not yet sent
};

// Requests under way on average, by Little's law: rate x mean time. NaN where nothing came.
double under_way(const RoundTrips& trips);

// At every moment from the first request to the last answer each place has a request under way, or is idle.
bool keeps_littles_law(const RoundTrips& trips);

// Of those that are kept, in time order. A percentile above the median that would be the largest of them is absent:
// n cannot carry it.
Summary summarise_round_trips(std::span<const Nanoseconds> kept, PercentileRule rule);

// In how many buckets round trips may be that take so long together.
int most_buckets(Nanoseconds total);

// Of more than are kept: all of them, whose sum is `total` and which lie between the two. What follows from their
// order in time is absent: it is not known.
Summary summarise_round_trips(const TimeHistogram& all, Nanoseconds total, Nanoseconds shortest,
                              Nanoseconds longest, PercentileRule rule);

} // namespace a2aperf
