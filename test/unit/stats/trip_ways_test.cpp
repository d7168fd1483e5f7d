// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/stats/trip_ways.hpp"

#include <cmath>

#include <doctest/doctest.h>

using namespace a2aperf;

namespace {

// Two round trips of rank 0; rank 1 answers, and has none.
Samples two_trips() {
    Samples samples;
    samples.ranks = 2;
    samples.ticks = 2;
    samples.own[kRequestBegin] = {100, kNoMoment, 1000, kNoMoment};
    samples.own[kRoundTrip] = {60, kNoMoment, 50, kNoMoment};
    samples.own[kRequestCame] = {110, kNoMoment, 1030, kNoMoment};
    samples.own[kAnswerBegin] = {115, kNoMoment, 1032, kNoMoment};
    return samples;
}

} // namespace

TEST_CASE("a round trip is the way there, the server and the way back") {
    const Samples samples = two_trips();
    CHECK(trip_parts(samples, TripPart::there) == std::vector<Nanoseconds>{10, 30});
    CHECK(trip_parts(samples, TripPart::server) == std::vector<Nanoseconds>{5, 2});
    CHECK(trip_parts(samples, TripPart::back) == std::vector<Nanoseconds>{45, 18});
    CHECK(trip_parts(Samples{}, TripPart::back).empty()); // of a file that has none
}

TEST_CASE("the bound of a way is that of the clocks between its ends") {
    Samples samples = two_trips();
    samples.clock_error_ns = 40;
    const StreamPair near[] = {{0, 1}}, far[] = {{0, 1}, {2, 3}};
    samples.clock_of_rank = {0, 0, 1, 1};
    CHECK(way_bound(samples, near) == 0);
    CHECK(way_bound(samples, far) == 0);
    samples.clock_of_rank = {0, 1, 1, 1};
    CHECK(way_bound(samples, near) == 40);
    CHECK(way_bound(samples, far) == 40);
    samples.clock_of_rank = {0, 1, 1, 2};
    CHECK(way_bound(samples, far) == 80);
}

TEST_CASE("ways are told up to a bound of 5 % of the median round trip") {
    CHECK(tells_ways(0, 1));
    CHECK(tells_ways(50, 1000));
    CHECK(!tells_ways(50.1, 1000));
    CHECK(!tells_ways(0, kAbsent));
}

TEST_CASE("a percentile above the median that would be the largest is absent") {
    const std::vector<Nanoseconds> ten{10, 9, 1, 2, 3, 8, 7, 6, 5, 4};
    CHECK(part_percentile(ten, 0) == 1);
    CHECK(part_percentile(ten, 0.5) == 5);
    CHECK(part_percentile(ten, 0.9) == 9);
    CHECK(std::isnan(part_percentile(ten, 0.99)));
    CHECK(part_percentile({7}, 0.5) == 7);
    CHECK(std::isnan(part_percentile({}, 0.5)));
}
