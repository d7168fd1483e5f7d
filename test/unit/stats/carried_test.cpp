// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/stats/carried.hpp"

#include <cmath>

#include <doctest/doctest.h>

using namespace a2aperf;

TEST_CASE("a time that the clocks may be off by is no time") {
    CHECK(std::isnan(carried_time(400, 400, 6)));
    CHECK(carried_time(401, 400, 6) == 401);
}

TEST_CASE("no rank gets a message in a nanosecond, with one clock neither") {
    CHECK(std::isnan(carried_time(1, 0, 6)));
    CHECK(std::isnan(carried_time(6, 0, 6)));
    CHECK(carried_time(7, 0, 6) == 7);
    CHECK(std::isnan(carried_time(1, 0, 0))); // nothing came
    CHECK(std::isnan(carried_time(0, 0, 0)));
}
