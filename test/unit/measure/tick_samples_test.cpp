// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/measure/tick_samples.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>

#include <doctest/doctest.h>

using namespace a2aperf;

namespace {

using Totals = std::array<std::uint64_t, 2>;
constexpr std::array<std::string_view, 2> kCounters{"sent", "received"};

} // namespace

TEST_CASE("a tick keeps what was added since the last one, in columns by name") {
    TickSamples samples(kCounters);
    samples.reserve(4);
    CHECK(samples.size() == 0);
    CHECK(samples.column("sent").empty());
    samples.take(10, Totals{5, 0});
    samples.take(25, Totals{5, 7});
    samples.take(30, Totals{9, 8});
    CHECK(std::ranges::equal(samples.moments(), std::array<Nanoseconds, 3>{10, 25, 30}));
    CHECK(std::ranges::equal(samples.column("sent"), std::array<std::uint64_t, 3>{5, 0, 4}));
    CHECK(std::ranges::equal(samples.column("received"), std::array<std::uint64_t, 3>{0, 7, 1}));
}

TEST_CASE("there is room for as many ticks as were asked for, at the same place; those that come after them are "
          "counted") {
    TickSamples samples(kCounters);
    samples.reserve(3);
    samples.take(1, Totals{1, 1});
    const Nanoseconds* const place = samples.moments().data();
    samples.take(2, Totals{2, 2});
    CHECK(samples.moments().data() == place);
    CHECK(samples.lost() == 0);
    samples.take(3, Totals{3, 3});
    samples.take(4, Totals{9, 9});
    CHECK(samples.size() == 2);
    CHECK(samples.lost() == 2);
    CHECK(samples.taken() == 4);
    CHECK(std::ranges::equal(samples.column("sent"), std::array<std::uint64_t, 2>{1, 1}));
}

TEST_CASE("what was counted before is forgotten with the ticks") {
    TickSamples samples(kCounters);
    samples.reserve(2);
    samples.take(1, Totals{100, 100});
    samples.take(2, Totals{100, 100});
    samples.reserve(2);
    CHECK(samples.taken() == 0);
    CHECK(samples.size() == 0);
    samples.take(1, Totals{3, 4});
    CHECK(samples.column("received").front() == 4);
}

TEST_CASE("what came after the last tick has a place, and is no tick that could be lost") {
    TickSamples samples(kCounters);
    samples.reserve(3);
    samples.take(1, Totals{1, 1});
    samples.take(2, Totals{2, 2});
    samples.end(3, Totals{2, 2});
    CHECK(samples.lost() == 0);
    CHECK(std::ranges::equal(samples.moments(), std::array<Nanoseconds, 3>{1, 2, 3}));
    CHECK(std::ranges::equal(samples.column("sent"), std::array<std::uint64_t, 3>{1, 1, 0}));
}

TEST_CASE("where ticks were lost nothing is told of what came after them") {
    TickSamples samples(kCounters);
    samples.reserve(2);
    samples.take(1, Totals{1, 1});
    samples.take(2, Totals{5, 5});
    samples.end(3, Totals{9, 9});
    CHECK(samples.size() == 1);
    CHECK(samples.lost() == 1);
    samples.reserve(0);
    samples.end(3, Totals{9, 9});
    CHECK(samples.size() == 0);
}

TEST_CASE("a name that nothing is counted by is told") {
    const TickSamples samples(kCounters);
    CHECK_THROWS_WITH_AS((void)samples.column("lost"), "no counter 'lost'", std::out_of_range);
}
