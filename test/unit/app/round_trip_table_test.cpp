// SPDX-License-Identifier: BSD-3-Clause
#include "app/round_trip_table.hpp"

#include <memory>
#include <string>

#include <doctest/doctest.h>

#include "a2aperf/plan/open_loop_plan.hpp"
#include "support/written.hpp"

using namespace a2aperf;

namespace {

struct Pacing {
    double p50, p99, p999;
};

// Below a table of one point with a median of 100 us and a p99.9 of 1 ms, and such errors of its client alone.
std::string words_of(const Pacing& pacing) {
    auto loop = std::make_shared<OpenLoopPlan>();
    loop->rate = 1000;
    Point point;
    point.mode = "tagged";
    point.flow = loop;
    PointResult result;
    result.summary.count = 5000;
    result.summary.min = 90e3;
    result.summary.p50 = 100e3;
    result.summary.p999 = 1e6;
    result.figures = {{"round_trips", 5000},      {"littles_law", 1},
                      {"offered_rate", 1000},     {"achieved_rate", 1000},
                      {"unanswered", 0},          {"pacing_p50", pacing.p50},
                      {"pacing_p99", pacing.p99}, {"pacing_p999", pacing.p999},
                      {"way_trips", 5000},        {"backlog", 1}};
    return test::stderr_of([&] {
        const auto table = make_open_loop_table({.ranks = "2 ranks", .nodes = "1 node", .provider = "tcp"});
        table->add(point, result);
        Progress progress(Progress::Style::log, TimeLeft({{1000, 100}}));
        table->close(progress);
    });
}

} // namespace

TEST_CASE("a client that sends late by itself is told, of the median and of the tail") {
    constexpr const char* kMedian = "in 1 point p99.9 of the pacing alone (of few messages a lower percentile) is "
                                    "above a tenth of the median latency: the client itself sent late\n";
    constexpr const char* kTail = "in 1 point p99.9 of the pacing alone (of few messages a lower percentile) is "
                                  "above a tenth of the p99.9 of the latency: the client itself sent late\n";
    CHECK(words_of({1e3, 5e3, 9.9e3}).empty());
    CHECK(words_of({1e3, 5e3, 10.1e3}) == kMedian);
    CHECK(words_of({1e3, 5e3, 100.1e3}) == std::string(kMedian) + kTail);
    // Of few messages there is no p99.9, and of fewer no p99.
    CHECK(words_of({1e3, 10.1e3, kAbsent}) == kMedian);
    CHECK(words_of({1e3, 9.9e3, kAbsent}).empty());
    CHECK(words_of({10.1e3, kAbsent, kAbsent}) == kMedian);
    CHECK(words_of({kAbsent, kAbsent, kAbsent}).empty());
}
