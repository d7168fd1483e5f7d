// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/base/clock.hpp"

#include <doctest/doctest.h>

using namespace a2aperf;

TEST_CASE("the clock never runs backwards") {
    Nanoseconds last = now_ns();
    for (int i = 0; i < 10'000; ++i) {
        const Nanoseconds now = now_ns();
        REQUIRE(now >= last);
        last = now;
    }
}

TEST_CASE("the wall clock counts from 1970") {
    const Nanoseconds year_2020 = 1'577'836'800'000'000'000;
    CHECK(wall_clock_ns() > year_2020);
}

TEST_CASE("moments are written in ISO 8601, UTC") {
    CHECK(format_utc(0) == "1970-01-01T00:00:00Z");
    CHECK(format_utc(951'782'400'999'999'999) == "2000-02-29T00:00:00Z");
    CHECK(format_utc(1'769'860'800'000'000'000) == "2026-01-31T12:00:00Z");
    CHECK(format_utc(-1) == "1969-12-31T23:59:59Z");
}
