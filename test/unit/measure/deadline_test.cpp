// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/measure/deadline.hpp"

#include <doctest/doctest.h>

using namespace a2aperf;

TEST_CASE("deadline ends after the timeout and begins anew with progress") {
    for (const Polling polling : {Polling::spin, Polling::yield}) {
        Deadline deadline(polling, 2'000'000);
        const Nanoseconds begin = now_ns();
        while (deadline.idle()) {
        }
        CHECK(now_ns() - begin >= 2'000'000);
        deadline.reset();
        CHECK(deadline.idle());
    }
}
