// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/stats/round_trips.hpp"

#include <cmath>
#include <numeric>
#include <vector>

#include <doctest/doctest.h>

using namespace a2aperf;

namespace {

// 1, 2, … n, in an order in which neighbours are far apart.
std::vector<Nanoseconds> times(std::size_t n) {
    std::vector<Nanoseconds> all(n);
    for (std::size_t i = 0; i < n; ++i) all[i] = static_cast<Nanoseconds>(i * 7 % n) + 1;
    return all;
}

Summary of(std::size_t n, PercentileRule rule = PercentileRule::rank) {
    return summarise_round_trips(times(n), rule);
}

} // namespace

TEST_CASE("percentiles of round trips are by nearest rank, and n is told") {
    const Summary summary = of(2000);
    CHECK(summary.count == 2000);
    CHECK(summary.min == 1);
    CHECK(summary.p50 == 1000);
    CHECK(summary.p90 == 1800);
    CHECK(summary.p99 == 1980);
    CHECK(summary.p999 == 1998);
    CHECK(summary.max == 2000);
    CHECK(summary.mean == 1000.5);
    CHECK(of(2000, PercentileRule::index).p999 == 1999);
}

TEST_CASE("a percentile that would be the largest is absent") {
    CHECK(std::isnan(of(999).p999));
    CHECK(of(1000).p999 == 999);
    CHECK(std::isnan(of(1000, PercentileRule::index).p999));
    CHECK(std::isnan(of(99).p99));
    CHECK(of(100).p99 == 99);
    CHECK(std::isnan(of(9).p90));
    CHECK(of(10).p90 == 9);
    const Summary one = of(1);
    CHECK(one.p50 == 1);
    CHECK(std::isnan(one.p90));
    CHECK_FALSE(one.p99_is_max);
}

TEST_CASE("without a round trip there is no figure") {
    const Summary none = summarise_round_trips({}, PercentileRule::rank);
    CHECK(none.count == 0);
    CHECK(std::isnan(none.p50));
    CHECK(std::isnan(none.p999));
    CHECK(std::isnan(under_way({})));
    CHECK(keeps_littles_law({}));
}

TEST_CASE("every place is under way or idle at every moment, or times and number contradict each other") {
    const RoundTrips one{.count = 10, .total = 900, .idle = 100, .shortest = 80, .longest = 100, .time = 1000};
    CHECK(under_way(one) == doctest::Approx(0.9));
    CHECK(keeps_littles_law(one));
    RoundTrips idle = one; // one place of two is not accounted for
    idle.places = 2;
    CHECK_FALSE(keeps_littles_law(idle));
    RoundTrips lost = one; // one that nobody counted
    lost.total -= 90;
    CHECK_FALSE(keeps_littles_law(lost));
    RoundTrips twice = one;
    twice.total += 90;
    CHECK_FALSE(keeps_littles_law(twice));
    RoundTrips four{.places = 4,
                    .count = 40,
                    .total = 3900,
                    .idle = 20,
                    .open = 80,
                    .shortest = 90,
                    .longest = 110,
                    .time = 1000};
    CHECK(under_way(four) == doctest::Approx(3.9));
    CHECK(keeps_littles_law(four));
    four.places = 3;
    CHECK_FALSE(keeps_littles_law(four));
}
