// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>

#include "a2aperf/measure/relay.hpp"
#include "a2aperf/measure/service_queue.hpp"

using namespace a2aperf;

TEST_CASE("one is served at a time, in the order in which they came") {
    ServiceQueue queue(100, 3);
    CHECK(queue.is_empty());
    CHECK_FALSE(queue.is_served(1'000'000));
    queue.take(7, 1000); // served until 1100
    queue.take(5, 1010); // until 1200
    queue.take(6, 1500); // it waits for nobody: until 1600
    CHECK_FALSE(queue.is_served(1099));
    REQUIRE(queue.is_served(1100));
    CHECK(queue.pop() == 7);
    CHECK_FALSE(queue.is_served(1199));
    REQUIRE(queue.is_served(1200));
    CHECK(queue.pop() == 5);
    CHECK_FALSE(queue.is_served(1599));
    REQUIRE(queue.is_served(1600));
    CHECK(queue.pop() == 6);
    CHECK(queue.is_empty());
}

TEST_CASE("who looks late holds up none of those behind") {
    ServiceQueue queue(100, 2);
    queue.take(0, 1000);
    queue.take(1, 1000);
    REQUIRE(queue.is_served(5000));
    CHECK(queue.pop() == 0);
    REQUIRE(queue.is_served(5000));
    CHECK(queue.pop() == 1);
}

TEST_CASE("the ring goes round") {
    ServiceQueue queue(10, 2);
    for (int round = 0; round < 7; ++round) {
        queue.take(2 * round, round * 1000);
        queue.take(2 * round + 1, round * 1000);
        CHECK_FALSE(queue.is_served(round * 1000 + 9));
        CHECK(queue.pop() == 2 * round);
        CHECK_FALSE(queue.is_served(round * 1000 + 19));
        CHECK(queue.pop() == 2 * round + 1);
        CHECK(queue.is_empty());
    }
}

TEST_CASE("without a service a message may go at once") {
    ServiceQueue queue(0, 1);
    queue.take(3, 1000);
    CHECK(queue.is_served(1000));
}

TEST_CASE("a relay keeps the first messages one by one, and adds up all, answers by themselves") {
    Relayed relay({.clients = {0}, .outstanding = 2});
    relay.reserve(2);
    relay.note(true, 600, 650);
    relay.note(false, 700, 701);
    relay.note(true, 800, 900);
    relay.note(true, 1000, 1007);
    CHECK(std::vector(relay.arrivals().begin(), relay.arrivals().end()) == std::vector<Nanoseconds>{600, 800});
    CHECK(std::vector(relay.times().begin(), relay.times().end()) == std::vector<std::int64_t>{50, 100});
    CHECK(std::vector(relay.totals().begin(), relay.totals().end()) == std::vector<std::int64_t>{3, 157, 1, 1});
}
