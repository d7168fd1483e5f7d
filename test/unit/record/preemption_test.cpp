// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/record/preemption.hpp"

#include <doctest/doctest.h>

using namespace a2aperf;

namespace {

PointResult with(std::int64_t switches, std::int64_t cpu_ns) {
    PointResult result;
    result.ranks.resize(2);
    result.ranks[1].involuntary_switches = switches;
    result.ranks[1].user_time_ns = cpu_ns / 2;
    result.ranks[1].system_time_ns = cpu_ns - cpu_ns / 2;
    return result;
}

Point of(Bytes size) {
    Point point;
    point.message_size = size;
    return point;
}

} // namespace

TEST_CASE("the core that is taken now and then is not worth a word") {
    Preemption found;
    CHECK(found.words(false).empty());
    found.add(of(8), with(49, 1'000'000'000));
    found.add(of(8), with(4, 1'000'000)); // of little CPU time
    found.add(of(8), PointResult{});
    CHECK(found.words(false).empty());
}

TEST_CASE("ranks that share their core are told with the worst point") {
    Preemption found;
    found.add(of(8), with(400, 4'000'000'000));
    found.add(of(1000), with(590, 2'000'000'000));
    found.add(of(4096), with(10, 2'000'000'000));
    CHECK(found.words(false) ==
          "note: ranks were preempted at 2 of 3 points, most at 1 kB: 295 times in a second of its "
          "CPU time (rank 1)");
    CHECK(found.words(true).starts_with("note: ranks yielded their core or were preempted at 2 of 3 points"));
}

TEST_CASE("no rate is told of little CPU time, but what was counted") {
    Preemption found;
    found.add(of(8), with(2429, 50'000'000));
    CHECK(found.words(false) ==
          "note: ranks were preempted at 1 of 1 point, most at 8 B: 2429 times in less than 0.1 s of its CPU time "
          "(rank 1)");
}
