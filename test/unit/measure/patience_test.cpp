// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/measure/patience.hpp"

#include <doctest/doctest.h>

using namespace a2aperf;

TEST_CASE("patience ends after the timeout and begins anew with progress") {
    for (const Polling polling : {Polling::spin, Polling::yield}) {
        Patience patience(polling, 2'000'000);
        const Nanoseconds begin = now_ns();
        while (patience.idle()) {
        }
        CHECK(now_ns() - begin >= 2'000'000);
        patience.reset();
        CHECK(patience.idle());
    }
}
