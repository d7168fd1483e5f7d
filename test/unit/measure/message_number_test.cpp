// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/measure/message_number.hpp"

#include <doctest/doctest.h>

#include <vector>

using namespace a2aperf;

TEST_CASE("one in 16 messages is looked at, and whatever the window is, of each buffer about as many") {
    constexpr std::uint64_t kOfEach = 1600;
    for (const std::uint64_t window : {1, 2, 7, 16, 32, 48, 100, 512, 4096}) {
        CAPTURE(window);
        std::vector<int> samples(window);
        for (std::uint64_t number = 0; number < kOfEach * window; ++number)
            if (sixteenth_of(number) == 0) ++samples[number % window];
        for (const int of_buffer : samples) {
            CHECK(of_buffer > 50);
            CHECK(of_buffer < 200);
        }
    }
}
