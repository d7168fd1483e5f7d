// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/stats/impact.hpp"

#include <cmath>

#include <doctest/doctest.h>

#include "a2aperf/base/random.hpp"

using namespace a2aperf;

namespace {

double median(std::span<Nanoseconds> times) {
    return quantile_of_phase(times, 0.5);
}

double uniform(Random& random) {
    return static_cast<double>(random.next() >> 11U) * 0x1p-53;
}

// Times of a phase around a level that the phase has by itself.
std::vector<Nanoseconds> phase(Random& random, double level, double spread) {
    const double own = level * std::exp(spread * (uniform(random) + uniform(random) + uniform(random) - 1.5));
    std::vector<Nanoseconds> times;
    for (int i = 0; i < 200; ++i) times.push_back(static_cast<Nanoseconds>(own * (1 + 0.2 * uniform(random))));
    return times;
}

} // namespace

TEST_CASE("a percentile that would be the longest is absent, the median never") {
    std::vector<Nanoseconds> times;
    for (Nanoseconds i = 101; i > 0; --i) times.push_back(i);
    CHECK(quantile_of_phase(times, 0.5) == 51);
    CHECK(quantile_of_phase(times, 0.99) == 100);
    CHECK(std::isnan(quantile_of_phase(times, 0.999)));
    CHECK(mean_of_phase(times) == 51);
    std::vector<Nanoseconds> one{7};
    CHECK(quantile_of_phase(one, 0.5) == 7);
    CHECK(std::isnan(quantile_of_phase(std::span<Nanoseconds>(), 0.5)));
    CHECK(std::isnan(mean_of_phase({})));
}

TEST_CASE("the ratio is that of geometric means, and its interval Student's") {
    std::vector<Alternation> all;
    for (const Nanoseconds loaded : {200, 200, 400, 400, 200, 400}) all.push_back({{100}, {loaded}});
    const Impact impact = impact_of(all, median);
    CHECK(impact.alone == doctest::Approx(100));
    CHECK(impact.loaded == doctest::Approx(200 * std::sqrt(2.0)));
    CHECK(impact.ratio == doctest::Approx(2 * std::sqrt(2.0)));
    // Logarithms 3 of ln 2 and 3 of ln 4: s = ln 2 / 2 * sqrt(6 / 5), t(5) = 2.5706.
    const double reach = 2.5706 * std::log(2.0) / 2 * std::sqrt(6.0 / 5 / 6);
    REQUIRE(impact.interval);
    CHECK(impact.interval->low == doctest::Approx(impact.ratio * std::exp(-reach)).epsilon(0.005));
    CHECK(impact.interval->high == doctest::Approx(impact.ratio * std::exp(reach)).epsilon(0.005));
}

TEST_CASE("few alternations have no interval, and a phase without times no impact") {
    std::vector<Alternation> few(5, {{100}, {300}});
    CHECK(impact_of(few, median).ratio == doctest::Approx(3));
    CHECK(!impact_of(few, median).interval);
    few.push_back({{100}, {}});
    CHECK(std::isnan(impact_of(few, median).ratio));
    CHECK(!impact_of(few, median).interval);
    CHECK(std::isnan(impact_of({}, median).ratio));
}

TEST_CASE("where there is no impact the interval has 1 in 95 % of cases, and the true one where there is") {
    Random random(14);
    constexpr int kRuns = 1000;
    for (const double truth : {1.0, 2.0}) {
        int covered = 0;
        for (int run = 0; run < kRuns; ++run) {
            std::vector<Alternation> all;
            for (int i = 0; i < 10; ++i)
                all.push_back({phase(random, 10'000, 0.2), phase(random, 10'000 * truth, 0.2)});
            const Impact impact = impact_of(all, median);
            covered += impact.interval->low <= truth && truth <= impact.interval->high;
        }
        CHECK(covered > 0.93 * kRuns);
        CHECK(covered < 0.97 * kRuns);
    }
}
