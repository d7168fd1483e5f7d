// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/record/time_left.hpp"

#include <doctest/doctest.h>

using namespace a2aperf;

namespace {

constexpr Nanoseconds kMillisecond = 1'000'000;

// A point of `ops` ops that take `op` each after `before`, told block by block; gives the time of its end.
Nanoseconds measure(TimeLeft& left, std::size_t point, int ops, Nanoseconds op, Nanoseconds before,
                    Nanoseconds now) {
    left.begin(point, now);
    now += before;
    for (int done = 10; done <= ops; done += 10) left.ops(done, ops, now += 10 * op);
    left.end(now);
    return now;
}

} // namespace

TEST_CASE("nothing is known before the first ops") {
    TimeLeft left({{1000, 100}});
    CHECK_FALSE(left.at(0));
    left.begin(0, 0);
    CHECK_FALSE(left.at(kMillisecond));
}

TEST_CASE("within a point its own ops count, and what came before them does not") {
    TimeLeft left({{1'000'000, 100}});
    left.begin(0, 0);
    left.ops(10, 100, 5000 * kMillisecond); // connecting, verifying
    left.ops(20, 100, 5100 * kMillisecond);
    CHECK(left.at(5100 * kMillisecond) == 800 * kMillisecond);
    left.ops(60, 100, 5500 * kMillisecond);
    CHECK(left.at(5500 * kMillisecond) == 400 * kMillisecond);
    left.ops(80, 100, 5900 * kMillisecond); // slower than before
    CHECK(*left.at(5900 * kMillisecond) > 200 * kMillisecond);
}

TEST_CASE("points to come count by their sizes and their ops") {
    // 1 ns a byte and 4 us an op; 30 ms beside the ops of each point.
    TimeLeft left({{1'000'000, 100}, {1'000'000, 50}, {4'000'000, 100}, {1'000'000, 0}});
    const Nanoseconds op = 1'004'096;
    const Nanoseconds now = measure(left, 0, 100, op, 30 * kMillisecond, 0);
    const auto expected = static_cast<double>(50 * op + 100 * 4'004'096 + 2 * 30 * kMillisecond);
    CHECK(static_cast<double>(*left.at(now)) == doctest::Approx(expected).epsilon(0.001));
    // Halfway through the third, the small sizes' costs say no more than the large one's.
    left.begin(2, now);
    left.ops(10, 100, now + 100 * kMillisecond);
    left.ops(50, 100, now + 500 * kMillisecond);
    CHECK(left.at(now + 500 * kMillisecond) == 500 * kMillisecond);
}

TEST_CASE("a budget bounds the point at hand and those to come") {
    TimeLeft left({{1'000'000, 100}, {1'000'000, 100}}, 300 * kMillisecond);
    left.begin(0, 0);
    left.ops(10, 100, 100 * kMillisecond);
    left.ops(20, 100, 200 * kMillisecond); // 10 ms each: 800 ms more, of which 100 are granted
    CHECK(left.at(200 * kMillisecond) == 400 * kMillisecond);
}
