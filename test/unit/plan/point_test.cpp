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

TEST_CASE("a point has all the peers of its schedule, or those at one distance") {
    const Layout layout = Layout::blocks(5, 1);
    Point point;
    point.schedule = &find_schedule("shift");
    CHECK(point.messages_per_rank(5) == 5);
    CHECK(point.peers(3, layout, 1).sends == std::vector<Rank>{4, 0, 1, 2});
    CHECK(point.peers(3, layout, 1).receives == std::vector<Rank>{2, 1, 0, 4});

    point.distance = 2;
    CHECK(point.messages_per_rank(5) == 1);
    CHECK(point.peers(4, layout, 1).sends == std::vector<Rank>{1});
    CHECK(point.peers(4, layout, 1).receives == std::vector<Rank>{2});

    point.only_sender = 4; // to 1; the others are idle
    for (Rank rank = 0; rank < 5; ++rank) {
        CAPTURE(rank);
        const Peers peers = point.peers(rank, layout, 1);
        CHECK(peers.sends == (rank == 4 ? std::vector<Rank>{1} : std::vector<Rank>{}));
        CHECK(peers.receives == (rank == 1 ? std::vector<Rank>{4} : std::vector<Rank>{}));
    }
}

TEST_CASE("a label names the step of a pair") {
    Point point;
    point.role = Role::pair;
    point.mode = "tagged";
    point.schedule = &find_schedule("shift");
    point.message_size = 8;
    point.distance = 3;
    CHECK(point.label() == "tagged shift by 3 8 B");
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
    CHECK(to_string(Role::pair) == "pair");
    CHECK(to_string(Post::before) == "before");
    CHECK(to_string(Post::inside) == "inside");
}
