// SPDX-License-Identifier: BSD-3-Clause
#include "plan/one_way.hpp"

#include <utility>
#include <vector>

#include <doctest/doctest.h>

using namespace a2aperf;

namespace {

TrafficMatrix of(int ranks, const std::vector<std::pair<Rank, Rank>>& messages) {
    TrafficMatrix matrix(ranks);
    for (const auto& message : messages) matrix.set(message.first, message.second, 1);
    return matrix;
}

} // namespace

TEST_CASE("a rank that only receives or only sends has messages that go one way") {
    CHECK(goes_one_way(of(3, {{1, 0}, {2, 0}})));
    CHECK(goes_one_way(of(3, {{0, 1}, {0, 2}})));
    CHECK(goes_one_way(of(2, {{0, 1}})));
}

TEST_CASE("where a way leads back to each sender nothing goes one way") {
    CHECK_FALSE(goes_one_way(of(4, {{0, 1}, {1, 2}, {2, 3}, {3, 0}})));         // a ring
    CHECK_FALSE(goes_one_way(of(4, {{0, 1}, {1, 0}, {2, 3}, {3, 2}})));         // pairs
    CHECK_FALSE(goes_one_way(of(4, {{0, 1}, {1, 0}, {0, 2}, {2, 0}, {2, 1}}))); // rank 3 has nothing to do
    CHECK_FALSE(goes_one_way(of(4, {})));
}

TEST_CASE("one message between parts that answer each other goes one way") {
    CHECK(goes_one_way(of(4, {{0, 1}, {1, 0}, {2, 3}, {3, 2}, {1, 2}})));
    CHECK(goes_one_way(of(4, {{0, 1}, {1, 0}, {2, 3}, {3, 2}, {3, 0}})));
}
