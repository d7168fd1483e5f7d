// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/measure/start_policy.hpp"

#include <doctest/doctest.h>

using namespace a2aperf;

TEST_CASE("ranks spin where each has a core and yield where they share") {
    CHECK(choose_polling(std::nullopt, false).way.polling == Polling::spin);
    CHECK(choose_polling(std::nullopt, true).way.polling == Polling::yield);
    CHECK_FALSE(choose_polling(std::nullopt, true).reason.empty());
}

TEST_CASE("the user's word on polling stands") {
    for (const bool is_oversubscribed : {false, true})
        for (const Polling wanted : {Polling::spin, Polling::yield, Polling::block, Polling::throttle})
            CHECK(choose_polling(PollingWay{wanted}, is_oversubscribed).way.polling == wanted);
}

TEST_CASE("how ranks wait is told with its number") {
    CHECK(PollingWay{Polling::spin, 0}.text() == "spin");
    CHECK(PollingWay{Polling::throttle, 16}.text() == "throttle=16");
}

TEST_CASE("a rank is late after a hundredth of an op, but never before a microsecond") {
    CHECK(late_limit(0) == 1000);
    CHECK(late_limit(50'000) == 1000);
    CHECK(late_limit(1'000'000) == 10'000);
}

TEST_CASE("ops start by the clock where every rank has a core and no trial is made") {
    CHECK(choose_start_without_trial(std::nullopt, false).start == Start::clock);
    CHECK(choose_start_without_trial(std::nullopt, true).start == Start::barrier);
    CHECK(choose_start_without_trial(Start::clock, true).start == Start::clock);
    CHECK(choose_start_without_trial(Start::barrier, false).start == Start::barrier);
}
