// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/plan/point.hpp"

#include <doctest/doctest.h>

using namespace a2aperf;

TEST_CASE("a label names the cell") {
    Point point;
    point.mode = "tagged";
    point.schedule = &find_schedule("shift");
    point.message_size = 60'000;
    CHECK(point.label() == "tagged shift window all 60000 B");
    point.window = 8;
    CHECK(point.label() == "tagged shift window 8 60000 B");
    point.role = Role::sentinel;
    CHECK(point.label() == "tagged shift window 8 60000 B (sentinel)");
}

TEST_CASE("a baseline has neither schedule nor window") {
    Point point;
    point.role = Role::baseline;
    point.mode = "collective";
    point.message_size = 1000;
    CHECK(point.is_baseline());
    CHECK(point.schedule_name() == "library");
    CHECK(point.label() == "collective library 1000 B");
}

TEST_CASE("the words of the file") {
    CHECK(to_string(Role::measure) == "measure");
    CHECK(to_string(Role::baseline) == "baseline");
    CHECK(to_string(Role::sentinel) == "sentinel");
    CHECK(to_string(Post::before) == "before");
    CHECK(to_string(Post::inside) == "inside");
}
