// SPDX-License-Identifier: BSD-3-Clause
#include "app/round_trip_columns.hpp"

#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

using namespace a2aperf;

TEST_CASE("round trips depend on those before them of the same client") {
    // One client is always slow and one is not: taken in turn their round trips would alternate.
    constexpr int kEach = 300;
    Samples samples;
    samples.ranks = 3; // the last one is a server
    std::vector<std::int64_t>& trips = samples.own["round_trip"];
    std::vector<std::int64_t> total(3, 0);
    for (int i = 0; i < kEach; ++i) {
        trips.insert(trips.end(), {10'000 + i, 90'000 + i, kNoMoment});
        total[0] += 10'000 + i;
        total[1] += 90'000 + i;
    }
    samples.own["round_trips"] = {kEach, kEach, 0};
    samples.own["trip_time"] = total;
    for (const char* name : {"trip_places", "idle_time", "open_time", "shortest_trip", "longest_trip", "trip_span"})
        samples.own[name] = {1, 1, 1};
    const Summary summary = summarise_trips(samples, {});
    CHECK(summary.count == 2 * kEach);
    CHECK(summary.autocorrelation > 0.9);
}
