// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/plan/due_times.hpp"

#include <cmath>

#include <doctest/doctest.h>

using namespace a2aperf;

TEST_CASE("evenly due messages keep the exact schedule however many there are") {
    for (const std::int64_t rate : {1, 3, 7, 10'000, 999'983, 1'000'000'000})
        for (const int pairs : {1, 3})
            for (int pair = 0; pair < pairs; ++pair) {
                DueTimes times({.rate = rate, .pair = pair, .pairs = pairs});
                for (std::int64_t k = 0; k < 3000; ++k, times.pop()) {
                    const std::int64_t exact = 1'000'000'000 * (2 * k * pairs + 2 * pair + 1) / (2 * pairs * rate);
                    REQUIRE(times.next() == exact);
                }
                CHECK(std::abs(times.passed() - 3'000'000'000'000 / rate) <= 1);
            }
}

TEST_CASE("Poisson's gaps are exponential: of their mean and deviation, and other ones for each pair and seed") {
    constexpr int kCount = 1'000'000;
    DueTimes times({.arrivals = Arrivals::poisson, .rate = 10'000});
    double sum = 0;
    double squares = 0;
    Nanoseconds before = 0;
    for (int k = 0; k < kCount; ++k, times.pop()) {
        const auto gap = static_cast<double>(times.next() - before);
        REQUIRE(gap >= 0);
        before = times.next();
        sum += gap;
        squares += gap * gap;
    }
    const double mean = sum / kCount;
    CHECK(mean == doctest::Approx(100'000).epsilon(0.005)); // five standard errors
    CHECK(std::sqrt(squares / kCount - mean * mean) == doctest::Approx(100'000).epsilon(0.01));
    CHECK(times.passed() == before);
    const auto first = [](int pair, std::uint64_t seed) {
        return DueTimes({.arrivals = Arrivals::poisson, .rate = 10, .pair = pair, .pairs = 2, .seed = seed}).next();
    };
    CHECK(first(0, 1) == first(0, 1));
    CHECK(first(0, 1) != first(1, 1));
    CHECK(first(0, 1) != first(0, 2));
}
