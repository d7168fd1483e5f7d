// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/plan/oversubscription.hpp"

#include <doctest/doctest.h>

using namespace a2aperf;

TEST_CASE("a core for every rank: nothing is said") {
    CHECK(oversubscription(Layout::blocks(2, 2), {2}, {"a"}).empty());
    CHECK(oversubscription(Layout::blocks(4, 2), {2, 64}, {"a", "b"}).empty());
}

TEST_CASE("more ranks than cores are counted") {
    CHECK(oversubscription(Layout::blocks(4, 4), {2}, {"a"}) == "oversubscribed: 4 ranks on 2 cores");
    CHECK(oversubscription(Layout::blocks(3, 3), {1}, {"a"}) == "oversubscribed: 3 ranks on 1 core");
}

TEST_CASE("each thread of a rank takes a core") {
    CHECK(oversubscription(Layout::blocks(1, 1), {2}, {"a"}, 2).empty());
    CHECK(oversubscription(Layout::blocks(1, 1), {1}, {"a"}, 2) ==
          "oversubscribed: 2 threads each of 1 rank on 1 core");
}

TEST_CASE("of several nodes the worst is named, and how many there are") {
    CHECK(oversubscription(Layout({0, 0, 0, 1, 1, 1, 2}), {2, 1, 1}, {"a", "b", "c"}) ==
          "oversubscribed: 3 ranks on 1 core of b (2 of 3 nodes)");
}

TEST_CASE("of a node whose cores are unknown nothing is said") {
    CHECK(oversubscription(Layout::blocks(4, 4), {0}, {"a"}).empty());
}
