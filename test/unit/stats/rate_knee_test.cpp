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

TEST_CASE("the time of the last answer alone is no rate that was lost") {
    // 20 messages in a second, each with its answer 45 ms after it was due: the last one was due after 950 ms.
    CHECK(is_kept({20, 20 / 1.045, 20, 45e6}));
    CHECK_FALSE(is_kept({20, 20 / 1.045, 20, 1e6}));
    CHECK_FALSE(is_kept({20, 10, 20, 45e6}));
}

TEST_CASE("no rate may be kept at all") {
    const auto knee = find_knee(std::vector<RatePoint>{{20e3, 5e3}, {10e3, 9.8e3}});
    REQUIRE(knee);
    CHECK(knee->kept == 0);
    CHECK(knee->lost == 10e3);
}

} // namespace
