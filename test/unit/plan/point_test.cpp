// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/plan/point.hpp"

#include <doctest/doctest.h>

#include "a2aperf/plan/echo_plan.hpp"
#include "a2aperf/plan/stream_plan.hpp"

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
    point.own_role = "pair";
    point.mode = "tagged";
    point.schedule = &find_schedule("shift");
    point.message_size = 8;
    point.distance = 3;
    CHECK(point.label() == "tagged shift by 3 8 B");
    CHECK(point.role_name() == "pair");
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

TEST_CASE("a point that runs for a duration is named, and sized, by what it does in it") {
    Point point;
    point.mode = "tagged";
    point.message_size = 100;
    point.window = 32;
    point.memory = "huge";
    StreamPlan stream;
    stream.pairs = "halves";
    stream.who = {{0, 2}, {1, 2}};
    stream.cq_mod = 16;
    point.flow = std::make_shared<StreamPlan>(stream);
    CHECK(point.label() == "tagged stream halves cq-mod 16 memory huge window 32 100 B");
    CHECK(point.other_size() == 100);
    CHECK(point.buffer_bytes(3) == 2 * 32 * 128);
    CHECK(point.flow->leaves_completions_out());

    EchoPlan echo;
    echo.pairs = "all-to-one";
    echo.who = stream.who;
    echo.outstanding = 4;
    echo.request_size = 1000;
    point.flow = std::make_shared<EchoPlan>(echo);
    CHECK(point.label() == "tagged echo all-to-one memory huge outstanding 4 request 1000 B answer 100 B");
    CHECK(point.largest_message() == 1000);
    CHECK(point.of_size(point.other_size()).message_size == 1000);
    CHECK(point.flow->room(point).receives == 8); // at rank 2
    CHECK(point.flow->room(point).messages == 8);
    CHECK(point.buffer_bytes(3) == 8 * 1024);
    REQUIRE(point.by_modes().size() == 1);
    CHECK(point.by_modes().front().largest_transfer() == 1000); // of requests, too
    CHECK_FALSE(point.flow->leaves_completions_out());
}

TEST_CASE("a chunk is told with what it makes of a message, or that it cuts none") {
    Point point;
    point.mode = "tagged";
    point.schedule = &find_schedule("shift");
    point.message_size = 100'000;
    CHECK_FALSE(point.is_cut());
    CHECK(point.largest_transfer() == 100'000);
    point.chunk = 65'536;
    CHECK(point.label() == "tagged shift window all chunk 64KiB (2) 100000 B");
    CHECK(point.largest_transfer() == 65'536);
    CHECK(point.place_bytes() == 131'072);
    CHECK(point.buffer_bytes(3) == 3 * 131'072);
    for (const Bytes chunk : {Bytes{100'000}, Bytes{1'000'000}}) {
        point.chunk = chunk;
        CHECK_FALSE(point.is_cut());
        CHECK(point.chunks() == 1);
        CHECK(point.largest_transfer() == 100'000);
        CHECK(point.place_bytes() == 100'000);
        CHECK(point.label().find("(not cut)") != std::string::npos);
    }
    point.chunk = 0;
    point.channels = 2;
    CHECK(point.label() == "tagged shift window all endpoints 2 100000 B");
    Point other = point;
    other.queues = Queues::one;
    CHECK(other.label() == "tagged shift window all endpoints 2 (one queue) 100000 B");
    CHECK_FALSE(moves_alike(point, other));
    other = point;
    other.threads = Threads::each;
    CHECK(other.label() == "tagged shift window all endpoints 2 threads each 100000 B");
    CHECK_FALSE(moves_alike(point, other));
}
