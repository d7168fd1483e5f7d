// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/plan/layout.hpp"

#include <numeric>
#include <stdexcept>

#include <doctest/doctest.h>

using namespace a2aperf;

TEST_CASE("blocks fill node after node") {
    const Layout layout = Layout::blocks(7, 3);
    CHECK(layout.ranks() == 7);
    CHECK(layout.nodes() == 3);
    CHECK(layout.node_of_rank() == std::vector<int>{0, 0, 0, 1, 1, 1, 2});
    CHECK(layout.ranks_on_node() == std::vector<int>{3, 3, 1});
    CHECK(layout.ranks_per_node() == doctest::Approx(7.0 / 3));
    CHECK_FALSE(layout.is_even());
    CHECK(Layout::blocks(6, 3).is_even());
    CHECK(Layout::blocks(2, 100).nodes() == 1);
}

TEST_CASE("ranks dealt out in turn keep their order on the node") {
    const Layout layout({0, 1, 0, 1, 0});
    CHECK(layout.rank_at() == std::vector<std::vector<Rank>>{{0, 2, 4}, {1, 3}});
    CHECK(layout.local_index(4) == 2);
    CHECK(layout.local_index(3) == 1);
}

TEST_CASE("node and local index name each rank once") {
    for (int ranks = 1; ranks <= 40; ++ranks) {
        for (int per_node = 1; per_node <= ranks; ++per_node) {
            const Layout layout = Layout::blocks(ranks, per_node);
            for (Rank rank = 0; rank < ranks; ++rank) {
                const auto node = static_cast<std::size_t>(layout.node_of(rank));
                REQUIRE(layout.rank_at()[node][static_cast<std::size_t>(layout.local_index(rank))] == rank);
            }
            const auto& counts = layout.ranks_on_node();
            REQUIRE(std::accumulate(counts.begin(), counts.end(), 0) == ranks);
        }
    }
}

TEST_CASE("what is no layout is refused") {
    CHECK_THROWS_AS(Layout({}), std::invalid_argument);
    CHECK_THROWS_AS(Layout({-1, 0}), std::invalid_argument);
    CHECK_THROWS_AS(Layout({0, 2}), std::invalid_argument); // node 1 has no rank
    CHECK_THROWS_AS(Layout({0, 2'000'000'000}), std::invalid_argument);
    CHECK_THROWS_AS(Layout::blocks(0, 1), std::invalid_argument);
    CHECK_THROWS_AS(Layout::blocks(4, 0), std::invalid_argument);
}
