// SPDX-License-Identifier: BSD-3-Clause
#include <vector>

#include <doctest/doctest.h>

#include "a2aperf/measure/pace.hpp"

using namespace a2aperf;

namespace {

constexpr Nanoseconds kStart = 1'000'000;
constexpr Nanoseconds kGap = 1000;
constexpr DueRule kRule{.rate = 1'000'000}; // due at 500, 1500, 2500, ...

DueQueue queue_of(int places, Nanoseconds length, std::int64_t most = -1) {
    DueQueue queue(kRule);
    queue.reserve(static_cast<std::size_t>(places));
    for (int place = 0; place < places; ++place) queue.free(place, std::numeric_limits<Nanoseconds>::min());
    queue.open(kStart, kStart + length, most);
    return queue;
}

constexpr Nanoseconds due_at(std::int64_t number) {
    return kStart + kGap / 2 + number * kGap;
}

} // namespace

TEST_CASE("nothing is due before its moment, and with the moment it is") {
    DueQueue queue = queue_of(1, 10 * kGap);
    CHECK_FALSE(queue.is_due(due_at(0) - 1));
    REQUIRE(queue.is_due(due_at(0)));
    const DueQueue::Request request = queue.take(due_at(0), 0);
    CHECK(request.due == due_at(0));
    CHECK(request.place == 0);
    CHECK_FALSE(request.is_held_up);
    CHECK(queue.fallen() == 1);
    CHECK(queue.most_behind() == 1);
}

TEST_CASE("one that falls due while no place is free is held up, and keeps its own moment") {
    DueQueue queue = queue_of(1, 10 * kGap);
    (void)queue.take(due_at(0), 0);
    CHECK_FALSE(queue.is_due(due_at(2)));
    queue.free(0, due_at(2) + 1);
    for (const std::int64_t number : {1, 2}) {
        REQUIRE(queue.is_due(due_at(2) + 1));
        const DueQueue::Request late = queue.take(due_at(2) + 1, number);
        CHECK(late.due == due_at(number));
        CHECK(late.is_held_up);
        queue.free(0, due_at(2) + 1);
    }
    CHECK(queue.most_behind() == 2);
    REQUIRE(queue.is_due(due_at(3)));
    CHECK_FALSE(queue.take(due_at(3), 3).is_held_up); // its place was free before
}

TEST_CASE("a place that is free since the very moment holds nothing up") {
    DueQueue queue = queue_of(1, 10 * kGap);
    (void)queue.take(due_at(0), 0);
    queue.free(0, due_at(1));
    CHECK_FALSE(queue.take(due_at(1), 1).is_held_up);
}

TEST_CASE("of several places each is given once, and what is due waits for the next") {
    DueQueue queue = queue_of(3, 10 * kGap);
    std::vector<bool> given(3);
    for (std::int64_t number = 0; number < 3; ++number) {
        REQUIRE(queue.is_due(due_at(5)));
        const auto place = static_cast<std::size_t>(queue.take(due_at(5), number).place);
        CHECK_FALSE(given.at(place));
        given[place] = true;
    }
    CHECK_FALSE(queue.is_due(due_at(5)));
    CHECK(queue.fallen() == 6);
    CHECK(queue.most_behind() == 6);
}

TEST_CASE("what would be due at the end or behind it is not; all before it count, sent or not") {
    DueQueue queue = queue_of(8, 3 * kGap + kGap / 2); // the fourth would be due with the end
    for (std::int64_t number = 0; number < 3; ++number) {
        REQUIRE(queue.is_due(kStart + 100 * kGap));
        (void)queue.take(kStart + 100 * kGap, number);
    }
    CHECK_FALSE(queue.is_due(kStart + 100 * kGap));
    DueQueue unsent = queue_of(8, 3 * kGap + kGap / 2);
    unsent.look(std::numeric_limits<Nanoseconds>::max(), 0);
    CHECK(unsent.fallen() == 3);
    CHECK(unsent.most_behind() == 3);
    CHECK(unsent.passed() == 3 * kGap + kGap / 2);
}

TEST_CASE("of a number no more are due, and they came at the rate for as many gaps") {
    DueQueue queue = queue_of(8, 1000 * kGap, 4);
    queue.look(due_at(1), 0);
    CHECK(queue.fallen() == 2);
    CHECK(queue.passed() == 1000 * kGap);
    queue.look(std::numeric_limits<Nanoseconds>::max(), 4);
    CHECK(queue.fallen() == 4);
    CHECK(queue.most_behind() == 2); // those that are sent are behind no more
    CHECK(queue.passed() == 4 * kGap);
    for (std::int64_t number = 0; number < 4; ++number) (void)queue.take(due_at(9), number);
    CHECK_FALSE(queue.is_due(kStart + 999 * kGap));
}

namespace {

// Of all that are due by then, those that are held up; each place is free again at once, as by a fast server.
std::vector<bool> look(DueQueue& queue, Nanoseconds now, std::int64_t& sent) {
    std::vector<bool> held_up;
    queue.begin_look(now);
    while (queue.is_due(now)) held_up.push_back(queue.take(now, sent++).is_held_up);
    queue.end_look();
    return held_up;
}

} // namespace

TEST_CASE("all that fall due while the client does not run are late by the client, however few places there are") {
    DueQueue queue = queue_of(2, 100 * kGap);
    std::int64_t sent = 0;
    CHECK(look(queue, kStart, sent).empty()); // both places are free, and the client is away
    const Nanoseconds back = due_at(9);
    CHECK(look(queue, back, sent) == std::vector{false, false});
    for (Nanoseconds now = back + 1; sent < 10; now += 2) { // answers come, two at a time
        for (const int place : {0, 1}) queue.free(place, now);
        CHECK(look(queue, now + 1, sent) == std::vector{false, false});
    }
    CHECK(queue.most_behind() == 10);
}

TEST_CASE("what falls due while the client looks and has no place is held up, before and after it was away") {
    DueQueue queue = queue_of(1, 100 * kGap);
    std::int64_t sent = 0;
    CHECK(look(queue, due_at(0), sent) == std::vector{false}); // its answer takes long
    CHECK(look(queue, due_at(1), sent).empty());
    queue.free(0, due_at(1) + 1);
    CHECK(look(queue, due_at(1) + 2, sent) == std::vector{true});
    CHECK(
        look(queue, due_at(6), sent).empty()); // away with its place in use: the answer may have been long as well
    queue.free(0, due_at(6) + 1);
    CHECK(look(queue, due_at(6) + 2, sent) == std::vector{true});
}
