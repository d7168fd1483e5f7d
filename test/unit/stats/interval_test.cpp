// SPDX-License-Identifier: BSD-3-Clause
// Intervals against the exact binomial distribution and by simulation with known answers.
#include "a2aperf/stats/interval.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include <doctest/doctest.h>

#include "a2aperf/base/random.hpp"
#include "support/sanitizers.hpp"

using namespace a2aperf;
using doctest::Approx;

namespace {

using Values = std::vector<Nanoseconds>;

// P(X <= k) for X binomial(n, q), term by term in log space: independent of the recurrence under test.
long double binomial_cdf(std::size_t n, long double q, std::ptrdiff_t k) {
    long double sum = 0;
    for (std::ptrdiff_t i = 0; i <= k; ++i) {
        const auto x = static_cast<long double>(i);
        const auto size = static_cast<long double>(n);
        sum += std::exp(std::lgamma(size + 1) - std::lgamma(x + 1) - std::lgamma(size - x + 1) + x * std::log(q) +
                        (size - x) * std::log1p(-q));
    }
    return sum;
}

class Normal {
public:
    explicit Normal(std::uint64_t seed) : random_(seed) {}

    double next() { // Box-Muller
        const double radius = std::sqrt(-2 * std::log(uniform()));
        return radius * std::cos(2 * std::numbers::pi * uniform());
    }

private:
    double uniform() { return (static_cast<double>(random_.next() >> 11) + 0.5) / 9007199254740992.0; }

    Random random_;
};

constexpr double kMean = 1e9;
constexpr double kSpread = 1e6;

// Op times with median kMean and autocorrelation phi.
Values autoregressive(Normal& normal, std::size_t n, double phi) {
    double state = normal.next() / std::sqrt(1 - phi * phi);
    Values values;
    for (std::size_t i = 0; i < n; ++i) {
        values.push_back(static_cast<Nanoseconds>(std::llround(kMean + kSpread * state)));
        state = phi * state + normal.next();
    }
    return values;
}

bool holds(const std::optional<Interval>& interval, double truth) {
    return interval && interval->low <= truth && truth <= interval->high;
}

} // namespace

TEST_CASE("the median of 100 lies between the 40th and the 61st value") {
    const auto ranks = quantile_interval_ranks(100, 0.5);
    REQUIRE(ranks);
    CHECK(ranks->low == 40);
    CHECK(ranks->high == 61);
}

TEST_CASE("an interval reaches as far as its further end") {
    CHECK(reach(Interval{99, 103}, 100) == Approx(0.03));
    CHECK(reach(Interval{95, 101}, 100) == Approx(0.05));
    CHECK(reach(Interval{100, 100}, 100) == 0);
}

TEST_CASE("an interval exists only from the n that carries it") {
    for (const auto& row : {std::pair{0.5, 6U}, {0.9, 36U}, {0.99, 368U}, {0.999, 3688U}}) {
        const auto q = row.first;
        const auto least = row.second;
        CAPTURE(q);
        for (std::size_t n = 0; n < least; ++n) REQUIRE_FALSE(quantile_interval_ranks(n, q));
        for (std::size_t n = least; n < least + 100; ++n) REQUIRE(quantile_interval_ranks(n, q));
    }
    CHECK_FALSE(quantile_interval_ranks(1000, 0.0));
    CHECK_FALSE(quantile_interval_ranks(1000, 1.0));
}

TEST_CASE("order statistics cover 95 % by the exact binomial distribution, and no narrower pair does") {
    int checked = 0;
    for (const double q : {0.01, 0.1, 0.5, 0.9, 0.99, 0.999}) {
        for (const std::size_t n :
             {6U, 7U, 10U, 25U, 36U, 99U, 100U, 101U, 367U, 368U, 369U, 1000U, 3688U, 5000U}) {
            const auto ranks = quantile_interval_ranks(n, q);
            if (!ranks) continue;
            CAPTURE(q);
            CAPTURE(n);
            const auto low = static_cast<std::ptrdiff_t>(ranks->low);
            const auto high = static_cast<std::ptrdiff_t>(ranks->high);
            // the quantile lies below the low-th value when fewer than low values are below it, and so on
            CHECK(binomial_cdf(n, q, low - 1) <= 0.025L);
            CHECK(binomial_cdf(n, q, low) > 0.025L);
            CHECK(1 - binomial_cdf(n, q, high - 1) <= 0.025L);
            CHECK(1 - binomial_cdf(n, q, high - 2) > 0.025L);
            ++checked;
        }
    }
    CHECK(checked > 45);
}

TEST_CASE("large samples: the ranks approach the normal distribution's") {
    const auto ranks = quantile_interval_ranks(1'000'000, 0.5);
    REQUIRE(ranks);
    CHECK(static_cast<double>(ranks->low) == Approx(500'000 - 980).epsilon(1e-5));
    CHECK(static_cast<double>(ranks->high) == Approx(500'001 + 980).epsilon(1e-5));
}

TEST_CASE("the interval is made of the values at its ranks") {
    Values sorted;
    for (Nanoseconds i = 1; i <= 100; ++i) sorted.push_back(10 * i);
    const auto interval = quantile_interval(sorted, 0.5);
    REQUIRE(interval);
    CHECK(interval->low == 400);
    CHECK(interval->high == 610);
    CHECK_FALSE(quantile_interval(sorted, 0.99));
}

TEST_CASE("autocorrelation against figures computed by hand") {
    CHECK(autocorrelation(Values{1, 2, 3, 4}) == Approx(0.25)); // (0.75 - 0.25 + 0.75) / 5
    CHECK(autocorrelation(Values{1, -1, 1, -1}) == Approx(-0.75));
    CHECK(std::isnan(autocorrelation(Values{1, 2})));
    CHECK(std::isnan(autocorrelation(Values{5, 5, 5, 5})));
    CHECK(std::isnan(autocorrelation({})));
    Normal normal(3);
    CHECK(autocorrelation(autoregressive(normal, 50'000, 0.6)) == Approx(0.6).epsilon(0.03));
    CHECK(std::abs(autocorrelation(autoregressive(normal, 50'000, 0.0))) < 0.02);
}

TEST_CASE("coverage of independent ops is the exact binomial one" * doctest::skip(test::is_sanitized)) {
    Normal normal(20);
    constexpr int kLaunches = 20'000;
    int hits = 0;
    for (int launch = 0; launch < kLaunches; ++launch) {
        hits += holds(median_interval(autoregressive(normal, 100, 0)).interval, kMean) ? 1 : 0;
    }
    const auto exact = static_cast<double>(binomial_cdf(100, 0.5L, 60) - binomial_cdf(100, 0.5L, 39));
    CHECK(static_cast<double>(hits) / kLaunches == Approx(exact).epsilon(0.005));
}

TEST_CASE("coverage under autocorrelation is 93 to 97 %, where order statistics alone would fail" *
          doctest::skip(test::is_sanitized)) {
    struct Case {
        double phi;
        std::size_t n;
        int launches;
    };
    for (const Case& c : {Case{0.2, 100, 4000}, Case{0.5, 50, 4000}, Case{0.5, 100, 4000}, Case{0.5, 1000, 1000},
                          Case{0.7, 100, 4000}, Case{0.8, 200, 4000}, Case{0.9, 1000, 1000}}) {
        Normal normal(7);
        int hits = 0;
        int naive_hits = 0;
        for (int launch = 0; launch < c.launches; ++launch) {
            Values values = autoregressive(normal, c.n, c.phi);
            hits += holds(median_interval(values).interval, kMean) ? 1 : 0;
            std::sort(values.begin(), values.end());
            naive_hits += holds(quantile_interval(values, 0.5), kMean) ? 1 : 0;
        }
        CAPTURE(c.phi);
        CAPTURE(c.n);
        const double coverage = static_cast<double>(hits) / c.launches;
        CHECK(coverage >= 0.93);
        CHECK(coverage <= 0.97);
        if (c.phi >= 0.5) CHECK(static_cast<double>(naive_hits) / c.launches < 0.87);
    }
}

TEST_CASE("the kind says which interval it is") {
    Normal normal(1);
    CHECK(median_interval(autoregressive(normal, 500, 0)).kind == IntervalKind::order_statistics);
    CHECK(median_interval(autoregressive(normal, 500, 0.8)).kind == IntervalKind::block_bootstrap);
    const SeriesInterval few = median_interval(autoregressive(normal, 5, 0));
    CHECK(few.kind == IntervalKind::none);
    CHECK_FALSE(few.interval);
    CHECK(series_interval(autoregressive(normal, 367, 0), 0.99).kind == IntervalKind::none);
    CHECK(series_interval(autoregressive(normal, 368, 0), 0.99).kind == IntervalKind::order_statistics);
}

TEST_CASE("an autocorrelated series whose interval the analysis package computed") {
    Values values;
    for (Nanoseconds i = 0; i < 150; ++i) values.push_back(i / 5 * 41 % 101 * 1000 + i);
    const SeriesInterval found = median_interval(values);
    REQUIRE(found.interval);
    CHECK(found.kind == IntervalKind::block_bootstrap);
    CHECK(found.interval->low == 34'117);
    CHECK(found.interval->high == 66'047);
}

TEST_CASE("autocorrelation widens the interval") {
    Normal normal(2);
    Values values = autoregressive(normal, 400, 0.8);
    const auto dependent = median_interval(values).interval;
    std::sort(values.begin(), values.end());
    const auto independent = quantile_interval(values, 0.5);
    REQUIRE(dependent);
    REQUIRE(independent);
    CHECK(dependent->low < independent->low);
    CHECK(dependent->high > independent->high);
}

TEST_CASE("equal ops have a point as interval") {
    const SeriesInterval constant = median_interval(Values(100, 42));
    REQUIRE(constant.interval);
    CHECK(constant.interval->low == 42);
    CHECK(constant.interval->high == 42);
    CHECK(constant.kind == IntervalKind::order_statistics);
}

namespace {

std::vector<Block> in_blocks(const Values& values, std::size_t size) {
    std::vector<Block> blocks;
    for (std::size_t first = 0; first + size <= values.size(); first += size)
        blocks.emplace_back(values.begin() + static_cast<std::ptrdiff_t>(first),
                            values.begin() + static_cast<std::ptrdiff_t>(first + size));
    return blocks;
}

std::optional<Interval> ratio_of(const Values& numerator, const Values& denominator, std::size_t size) {
    return ratio_interval(in_blocks(numerator, size), in_blocks(denominator, size));
}

} // namespace

TEST_CASE("neighbouring blocks stay together when ops of one side are not valid") {
    // The machine becomes slower from pair to pair of blocks, and the sides are equal.
    std::vector<Block> numerator;
    std::vector<Block> denominator;
    for (int pair = 0; pair < 20; ++pair) {
        const Nanoseconds time = 1000 + 200 * pair;
        numerator.emplace_back(10, time);
        denominator.emplace_back(10, time);
    }
    numerator[3].pop_back(); // one op; before, all later pairs were shifted by it
    numerator[6].clear();
    const auto interval = ratio_interval(numerator, denominator);
    REQUIRE(interval);
    CHECK(interval->low > 0.99);
    CHECK(interval->high < 1.01);
    const auto equal = ratio_interval(std::vector<Block>(6, Block(10, 5)), std::vector<Block>(9, Block(7, 5)));
    REQUIRE(equal);
    CHECK(equal->low == 1);
    CHECK(equal->high == 1);
}

TEST_CASE("a ratio needs six pairs of blocks") {
    const Values values(59, 1000);
    CHECK_FALSE(ratio_of(values, values, 10));
    CHECK_FALSE(ratio_of(Values(100, 1000), values, 10));
    CHECK_FALSE(ratio_of({}, {}, 1));
    const auto same = ratio_of(Values(60, 3000), Values(60, 1000), 10);
    REQUIRE(same);
    CHECK(same->low == Approx(3));
    CHECK(same->high == Approx(3));
}

TEST_CASE("the ratio's interval holds the true ratio in 94 % of launches at least, drift of both sides included" *
          doctest::skip(test::is_sanitized)) {
    struct Case {
        std::size_t pairs, block_size;
        double drift; // between the two regimes of the machine, which both sides see together
        double most;  // a machine with two regimes makes the bootstrap of a median cautious
    };
    for (const Case& c :
         {Case{6, 10, 0, 0.98}, Case{20, 5, 0, 0.98}, Case{6, 10, 0.05, 1}, Case{10, 10, 0.05, 1}}) {
        Normal normal(13);
        constexpr int kLaunches = 500;
        int hits = 0;
        for (int launch = 0; launch < kLaunches; ++launch) {
            Values numerator;
            Values denominator;
            for (std::size_t pair = 0; pair < c.pairs; ++pair) {
                const double regime = normal.next() < 0 ? 1.0 : 1 + c.drift;
                for (Values* side : {&numerator, &denominator}) {
                    const double block = regime * (1 + 0.02 * normal.next());
                    for (std::size_t i = 0; i < c.block_size; ++i) {
                        const double time = (side == &numerator ? 1.2e6 : 1e6) * block * (1 + 0.02 * normal.next());
                        side->push_back(std::llround(time));
                    }
                }
            }
            hits += holds(ratio_of(numerator, denominator, c.block_size), 1.2) ? 1 : 0;
        }
        CAPTURE(c.pairs);
        CAPTURE(c.drift);
        const double coverage = static_cast<double>(hits) / kLaunches;
        CHECK(coverage >= 0.94);
        CHECK(coverage <= c.most);
    }
}

TEST_CASE("the same samples give the same interval") {
    Normal normal(6);
    const Values a = autoregressive(normal, 200, 0.3);
    const Values b = autoregressive(normal, 200, 0.3);
    const auto one = ratio_of(a, b, 10);
    const auto two = ratio_of(a, b, 10);
    REQUIRE(one);
    CHECK(one->low == two->low);
    CHECK(one->high == two->high);
}
