// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/stats/rate_knee.hpp"

#include <vector>

#include <doctest/doctest.h>

using namespace a2aperf;

namespace {

TEST_CASE("a knee is between the highest rate that is kept and the next") {
    const std::vector<RatePoint> points{{40e3, 30e3}, {10e3, 10e3}, {20e3, 19.9e3}, {80e3, 25e3}};
    const auto knee = find_knee(points);
    REQUIRE(knee);
    CHECK(knee->kept == 20e3);
    CHECK(knee->lost == 40e3);
    CHECK(knee->achieved == 30e3);
}

TEST_CASE("a rate that was lost below one that was kept is no knee") {
    CHECK_FALSE(find_knee(std::vector<RatePoint>{{10e3, 9e3}, {20e3, 20e3}}));
    CHECK_FALSE(find_knee(std::vector<RatePoint>{}));
}

TEST_CASE("no rate may be kept at all") {
    const auto knee = find_knee(std::vector<RatePoint>{{20e3, 5e3}, {10e3, 9.8e3}});
    REQUIRE(knee);
    CHECK(knee->kept == 0);
    CHECK(knee->lost == 10e3);
}

} // namespace
