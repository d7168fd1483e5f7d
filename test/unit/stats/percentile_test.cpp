// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/stats/percentile.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <vector>

#include <doctest/doctest.h>

#include "a2aperf/base/random.hpp"

using namespace a2aperf;

namespace {

std::vector<Nanoseconds> one_to(std::size_t n) {
    std::vector<Nanoseconds> values(n);
    std::iota(values.begin(), values.end(), 1);
    return values;
}

} // namespace

TEST_CASE("nearest rank: the ceil(q*n)-th smallest") {
    const auto hundred = one_to(100);
    CHECK(percentile(hundred, 0.0, PercentileRule::rank) == 1);
    CHECK(percentile(hundred, 0.5, PercentileRule::rank) == 50);
    CHECK(percentile(hundred, 0.9, PercentileRule::rank) == 90);
    CHECK(percentile(hundred, 0.99, PercentileRule::rank) == 99);
    CHECK(percentile(hundred, 0.999, PercentileRule::rank) == 100);
    CHECK(percentile(hundred, 1.0, PercentileRule::rank) == 100);
    const auto five = one_to(5);
    CHECK(percentile(five, 0.5, PercentileRule::rank) == 3);
    CHECK(percentile(five, 0.9, PercentileRule::rank) == 5);
}

TEST_CASE("index: sorted[int(q*n)], in which the p99 of 100 ops is the maximum as in the 2019 table") {
    const auto hundred = one_to(100);
    CHECK(percentile(hundred, 0.5, PercentileRule::index) == 51);
    CHECK(percentile(hundred, 0.9, PercentileRule::index) == 91);
    CHECK(percentile(hundred, 0.99, PercentileRule::index) == 100);
    CHECK(percentile(hundred, 1.0, PercentileRule::index) == 100);
    // its rows of 200 ops: the p99 is the 199th value, no longer the maximum
    CHECK(percentile(one_to(200), 0.99, PercentileRule::index) == 199);
}

TEST_CASE("a median takes its values in any order, and there is none of nothing") {
    CHECK(median({4, 1, 3, 2}, PercentileRule::rank) == 2);
    CHECK(median({4, 1, 3, 2}, PercentileRule::index) == 3);
    CHECK(std::isnan(median({}, PercentileRule::rank)));
}

TEST_CASE("a single value is every percentile") {
    const std::vector<Nanoseconds> one{7};
    for (const double q : {0.0, 0.5, 0.99, 1.0}) {
        CHECK(percentile(one, q, PercentileRule::rank) == 7);
        CHECK(percentile(one, q, PercentileRule::index) == 7);
    }
}

TEST_CASE("whole products of q and n count as whole, whatever floating point makes of them") {
    for (std::size_t n = 1; n <= 3000; ++n) {
        for (std::size_t percent = 0; percent <= 100; ++percent) {
            const double q = static_cast<double>(percent) / 100;
            const std::size_t ceiling = (percent * n + 99) / 100;
            REQUIRE(percentile_index(n, q, PercentileRule::rank) == (ceiling > 0 ? ceiling - 1 : 0));
            REQUIRE(percentile_index(n, q, PercentileRule::index) == std::min(percent * n / 100, n - 1));
        }
    }
}

TEST_CASE("a percentile is a value of the sample with enough of it on either side") {
    Random random(4);
    for (int round = 0; round < 2000; ++round) {
        std::vector<Nanoseconds> values(1 + random.below(300));
        for (Nanoseconds& value : values) value = static_cast<Nanoseconds>(random.below(50));
        std::sort(values.begin(), values.end());
        const double q = static_cast<double>(random.below(1001)) / 1000;
        const Nanoseconds p = percentile(values, q, PercentileRule::rank);
        const auto n = static_cast<double>(values.size());
        const auto below = std::lower_bound(values.begin(), values.end(), p) - values.begin();
        const auto up_to = std::upper_bound(values.begin(), values.end(), p) - values.begin();
        REQUIRE(up_to > below);
        REQUIRE(static_cast<double>(below) <= q * n + 1e-6);
        REQUIRE(static_cast<double>(up_to) >= q * n - 1e-6);
    }
}

TEST_CASE("there is no percentile of nothing") {
    CHECK_THROWS_AS(percentile({}, 0.5, PercentileRule::rank), std::invalid_argument);
}

TEST_CASE("the words of the file") {
    CHECK(to_string(PercentileRule::rank) == "rank");
    CHECK(to_string(PercentileRule::index) == "index");
}
