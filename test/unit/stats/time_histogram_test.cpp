// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/stats/time_histogram.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>

#include <doctest/doctest.h>

#include "a2aperf/base/random.hpp"
#include "a2aperf/stats/percentile.hpp"
#include "a2aperf/stats/round_trips.hpp"

using namespace a2aperf;

namespace {

constexpr Nanoseconds kLongest = std::numeric_limits<Nanoseconds>::max();

// Above 0, below 1.
double uniform(Random& random) {
    return (static_cast<double>(random.below(1'000'000)) + 0.5) / 1e6;
}

struct Distribution {
    std::string name;
    std::function<double(Random&)> draw; // ns
};

const std::vector<Distribution>& distributions() {
    static const std::vector<Distribution> all{
        {"one value", [](Random&) { return 12'345.0; }},
        {"uniform", [](Random& random) { return 1e6 * uniform(random); }},
        {"exponential", [](Random& random) { return 5e3 - 2e4 * std::log(uniform(random)); }},
        {"of a heavy tail", [](Random& random) { return 3e3 * std::pow(uniform(random), -1.5); }},
        {"logarithmic", [](Random& random) { return std::pow(10, 17 * uniform(random)); }},
        {"of two modes",
         [](Random& random) { return uniform(random) < 0.9 ? 2e3 + 50 * uniform(random) : 4e6 * uniform(random); }},
    };
    return all;
}

std::vector<Nanoseconds> times_of(const Distribution& distribution, std::size_t n) {
    Random random(7);
    std::vector<Nanoseconds> times;
    for (std::size_t i = 0; i < n; ++i) times.push_back(static_cast<Nanoseconds>(distribution.draw(random)));
    return times;
}

TimeHistogram histogram_of(const std::vector<Nanoseconds>& times) {
    TimeHistogram histogram;
    histogram.reserve();
    for (const Nanoseconds time : times) histogram.add(time);
    return histogram;
}

} // namespace

TEST_CASE("buckets follow one another without a gap, and each is within 0.1 % of its times") {
    Nanoseconds next = 0;
    for (std::size_t i = 0; i < TimeHistogram::kBuckets; ++i) {
        const Nanoseconds begin = TimeHistogram::begin_of(i);
        const Nanoseconds last = begin + (TimeHistogram::width_of(begin) - 1);
        REQUIRE(begin == next);
        REQUIRE(TimeHistogram::index_of(begin) == i);
        REQUIRE(TimeHistogram::index_of(last) == i);
        REQUIRE((last == begin || static_cast<double>(last - begin + 1) <= 1e-3 * static_cast<double>(begin)));
        REQUIRE(TimeHistogram::middle_of(begin) >= begin);
        REQUIRE(TimeHistogram::middle_of(begin) <= last);
        if (i + 1 < TimeHistogram::kBuckets) next = last + 1;
        if (i + 1 == TimeHistogram::kBuckets) CHECK(last == kLongest);
    }
}

TEST_CASE("edges: nothing, no time, less than that, the longest there is, and where the width changes") {
    CHECK(TimeHistogram().total() == 0);
    CHECK(TimeHistogram().buckets().empty());
    CHECK_THROWS_AS(TimeHistogram().at(0), std::out_of_range);
    const TimeHistogram histogram = histogram_of({0, -5, 1, 2047, 2048, 2049, 2050, kLongest, kLongest});
    const std::vector<TimeHistogram::Bucket> expected{
        {0, 2}, {1, 1}, {2047, 1}, {2048, 2}, {2050, 1}, {TimeHistogram::begin_of(TimeHistogram::kBuckets - 1), 2}};
    CHECK(histogram.buckets() == expected);
    CHECK(histogram.total() == 9);
    CHECK(histogram.at(0) == 0);
    CHECK(histogram.at(2) == 1);
    CHECK(histogram.at(3) == 2047);
    CHECK(histogram.at(8) > kLongest / 1024 * 1023);
    CHECK_THROWS_AS(histogram.at(9), std::out_of_range);
}

TEST_CASE("room is made anew, and counts add up") {
    TimeHistogram histogram;
    CHECK(!histogram.has_room());
    histogram.reserve();
    CHECK(histogram.has_room());
    histogram.add(10);
    histogram.add(10, 1'000'000'000'000);
    CHECK(histogram.total() == 1'000'000'000'001);
    histogram.reserve();
    CHECK(histogram.total() == 0);
}

TEST_CASE("a percentile of it is within 0.1 % of that of the times themselves") {
    for (const Distribution& distribution : distributions())
        for (const std::size_t n : {std::size_t{1}, std::size_t{2}, std::size_t{999}, std::size_t{20'000}}) {
            CAPTURE(distribution.name);
            CAPTURE(n);
            std::vector<Nanoseconds> times = times_of(distribution, n);
            const TimeHistogram histogram = histogram_of(times);
            std::ranges::sort(times);
            CHECK(histogram.total() == static_cast<std::int64_t>(n));
            for (const double q : {0.0, 0.01, 0.5, 0.9, 0.99, 0.999, 1.0})
                for (const PercentileRule rule : {PercentileRule::rank, PercentileRule::index}) {
                    const auto index = static_cast<std::int64_t>(percentile_index(n, q, rule));
                    const auto exact = static_cast<double>(percentile(times, q, rule));
                    CHECK(std::abs(static_cast<double>(histogram.at(index)) - exact) <= 1e-3 * exact);
                }
        }
}

TEST_CASE("a summary by it agrees with that of the samples, and lacks what their order says") {
    for (const Distribution& distribution : distributions()) {
        CAPTURE(distribution.name);
        const std::vector<Nanoseconds> times = times_of(distribution, 20'000);
        const auto [shortest, longest] = std::ranges::minmax(times);
        Nanoseconds total = 0;
        for (const Nanoseconds time : times) total += time / 1000; // they would add up to more than there is
        const Summary exact = summarise_round_trips(times, PercentileRule::rank);
        const Summary found =
            summarise_round_trips(histogram_of(times), total, shortest, longest, PercentileRule::rank);
        CHECK(found.count == exact.count);
        CHECK(found.min == exact.min);
        CHECK(found.max == exact.max);
        CHECK(found.mean == static_cast<double>(total) / 20'000);
        for (const auto figure : {&Summary::p50, &Summary::p90, &Summary::p99, &Summary::p999})
            CHECK(std::abs(found.*figure - exact.*figure) <= 1e-3 * exact.*figure);
        CHECK(found.interval_kind == IntervalKind::none);
        for (const auto figure : {&Summary::p50_low, &Summary::p50_high, &Summary::p99_low, &Summary::p99_high,
                                  &Summary::autocorrelation})
            CHECK(std::isnan(found.*figure));
    }
}

TEST_CASE("what takes so long together is in so many buckets at most") {
    CHECK(most_buckets(0) == 1); // of those that take no time
    CHECK(most_buckets(1) == 2);
    CHECK(most_buckets(2) == 2);
    CHECK(most_buckets(3) == 3);
    CHECK(most_buckets(kLongest) < static_cast<int>(TimeHistogram::kBuckets));
    for (const Nanoseconds total : {Nanoseconds{12'345}, Nanoseconds{3'000'000}, Nanoseconds{1'000'000'000}}) {
        const auto most = static_cast<std::size_t>(most_buckets(total));
        Nanoseconds sum = 0;
        for (std::size_t i = 0; i < most; ++i) sum += TimeHistogram::begin_of(i);
        CHECK(sum <= total);
        CHECK(sum + TimeHistogram::begin_of(most) > total);
    }
}

TEST_CASE("a percentile that would be the longest is absent; one is never beyond the longest or the shortest") {
    const TimeHistogram few = histogram_of({5000, 5001, 5002});
    const Summary summary = summarise_round_trips(few, 15'003, 5002, 5002, PercentileRule::rank);
    CHECK(summary.p50 == 5002);
    CHECK(std::isnan(summary.p90));
    CHECK(std::isnan(summary.p999));
    CHECK(summary.mean == 5001);
    const Summary none = summarise_round_trips(TimeHistogram(), 0, 0, 0, PercentileRule::rank);
    CHECK(none.count == 0);
    CHECK(std::isnan(none.p50));
}

TEST_CASE("the standard deviation is that of the times, to the width of the buckets") {
    const std::vector<Nanoseconds> times = times_of(distributions()[1], 20'000);
    Nanoseconds total = 0;
    for (const Nanoseconds time : times) total += time;
    const auto [shortest, longest] = std::ranges::minmax(times);
    const double exact = summarise_round_trips(times, PercentileRule::rank).stddev;
    const Summary found =
        summarise_round_trips(histogram_of(times), total, shortest, longest, PercentileRule::rank);
    CHECK(std::abs(found.stddev - exact) < 1e-3 * exact);
    CHECK(std::isnan(summarise_round_trips(histogram_of({7}), 7, 7, 7, PercentileRule::rank).stddev));
}
