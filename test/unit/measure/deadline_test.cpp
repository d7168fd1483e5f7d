// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/measure/deadline.hpp"

#include <algorithm>

#include <doctest/doctest.h>

using namespace a2aperf;

TEST_CASE("deadline ends after the timeout and begins anew with progress") {
    for (const Polling polling : {Polling::spin, Polling::yield, Polling::throttle}) {
        Deadline deadline(polling, 2'000'000, 3);
        const Nanoseconds begin = now_ns();
        while (deadline.idle()) {
        }
        CHECK(now_ns() - begin >= 2'000'000);
        deadline.reset();
        CHECK(deadline.idle());
    }
}

TEST_CASE("a throttled rank pauses after so many empty polls in a row") {
    constexpr int kPolls = 50;
    // The shortest of many: other work of the machine only adds.
    const auto shortest = [](unsigned throttle, int polls) {
        Deadline deadline(Polling::throttle, 60'000'000'000, throttle);
        Nanoseconds least = 60'000'000'000;
        for (int i = 0; i < 200; ++i) {
            deadline.reset();
            const Nanoseconds begin = now_ns();
            for (int poll = 0; poll < polls; ++poll) CHECK(deadline.idle());
            least = std::min(least, now_ns() - begin);
        }
        return least;
    };
    CHECK(shortest(kPolls, kPolls) >= Deadline::kPause);
    CHECK(shortest(1, kPolls) >= kPolls * Deadline::kPause);
    CHECK(shortest(5, kPolls) >= kPolls / 5 * Deadline::kPause);
}

TEST_CASE("a rank polls as a point says, and as before without a word") {
    Deadline deadline(Polling::spin, 60'000'000'000);
    deadline.poll_as(PollingWay{Polling::yield});
    CHECK(deadline.polling() == Polling::yield);
    CHECK(deadline.yields());
    deadline.poll_as(PollingWay{Polling::throttle, 1});
    CHECK_FALSE(deadline.yields());
    const Nanoseconds begin = now_ns();
    for (int poll = 0; poll < 20; ++poll) CHECK(deadline.idle());
    CHECK(now_ns() - begin >= 20 * Deadline::kPause);
    deadline.poll_as(std::nullopt);
    CHECK(deadline.polling() == Polling::spin);
    CHECK_FALSE(deadline.yields());
}

TEST_CASE("what happens in between puts the pause off") {
    constexpr unsigned kThrottle = 4;
    Deadline deadline(Polling::throttle, 60'000'000'000, kThrottle);
    // Until the pause nothing is noted but the number of polls: it is the pause that looks at the clock.
    for (int i = 0; i < 100; ++i) {
        for (unsigned poll = 1; poll < kThrottle; ++poll) CHECK(deadline.idle());
        CHECK(deadline.waited() == 0);
        deadline.reset();
    }
    for (unsigned poll = 1; poll <= kThrottle; ++poll) CHECK(deadline.idle());
    CHECK(deadline.waited() > 0);
}
