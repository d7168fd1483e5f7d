// SPDX-License-Identifier: BSD-3-Clause
#include "app/qos_table.hpp"

#include <memory>
#include <string>
#include <utility>

#include <doctest/doctest.h>

#include "a2aperf/plan/paths_plan.hpp"

using namespace a2aperf;

namespace {

constexpr Nanoseconds kInterval = 1'000'000'000;

// A second each.
std::vector<PathInterval> path_of(const std::vector<std::int64_t>& messages) {
    std::vector<PathInterval> made;
    for (const std::int64_t count : messages)
        made.push_back({static_cast<Nanoseconds>(made.size()) * kInterval, kInterval, count, 0});
    return made;
}

std::vector<std::string> remarks(const std::vector<std::int64_t>& messages, bool is_cut) {
    const std::vector<Path> paths{{0, 1, {}, 8, 1, "tagged", 0, 0}, {1, 0, {}, 8, 1, "tagged", 0, 0}};
    return remarks_on({path_of(messages), path_of({9, 9, 9, 9, 9})}, paths, is_cut);
}

// Of two paths, of which the second one's sender had nothing outstanding for that long of ten seconds.
std::string table_of(Nanoseconds idle) {
    auto plan = std::make_shared<PathsPlan>();
    plan->paths = {{0, 1, {}, 8, 1, "tagged", 0, 0}, {1, 0, {}, 8, 1, "tagged", 0, 0}};
    plan->interval = kInterval;
    Point point;
    point.mode = "tagged";
    point.flow = plan;
    const std::vector<std::int64_t> messages(10, 9);
    std::vector<PathInterval> second = path_of(messages);
    second.back().idle = idle;
    const auto table = make_qos_table(
        Format::table, "2 ranks",
        [&](const Point&) {
            return std::vector{path_of(messages), second};
        },
        [](const Point&) { return std::vector<PathClass>(2); }, false, 10 * kInterval, kInterval, 1000);
    const PointResult result;
    return table->row({point, &result});
}

} // namespace

TEST_CASE("a path that gets nothing any more, and one that got nothing for a while") {
    CHECK(remarks({9, 9, 9, 9, 9}, false).empty());
    CHECK(remarks({9, 9, 9, 0, 0}, false) == std::vector<std::string>{"path 0 (0:1) got nothing since 3.0 s"});
    CHECK(remarks({9, 0, 0, 9, 0}, false) == std::vector<std::string>{"path 0 (0:1) got nothing since 4.0 s"});
    CHECK(remarks({9, 0, 0, 9, 9}, false) ==
          std::vector<std::string>{"path 0 (0:1) got nothing from 1.0 s to 3.0 s"});
}

TEST_CASE("of what came after the intervals that are kept nothing is said") {
    CHECK(remarks({9, 9, 9, 9, 0}, true) ==
          std::vector<std::string>{"path 0 (0:1) got nothing from 4.0 s to 5.0 s"});
}

TEST_CASE("no share is the fabric's above one per cent without anything outstanding") {
    const std::string within = table_of(kInterval / 10); // 1 % of 10 s
    CHECK(within.find(" 50.00 ") != std::string::npos);
    CHECK(within.find("Jain's index 1.0000") != std::string::npos);
    CHECK(within.find("no share") == std::string::npos);
    const std::string beyond = table_of(kInterval / 10 + kInterval / 1000);
    CHECK(beyond.find(" 50.00 ") == std::string::npos);
    CHECK(beyond.find("Jain") == std::string::npos);
    CHECK(beyond.find("no share is the fabric's: the sender of path 1 (1:0) may have had nothing outstanding for "
                      "1.0 % of the time") != std::string::npos);
}

TEST_CASE("shares of few intervals are told, with what would be enough") {
    CHECK(few_intervals(10, 30 * kInterval, 3 * kInterval, 1000).empty());
    CHECK(few_intervals(2, 30 * kInterval, 10 * kInterval, 1000) ==
          "shares rest on 2 intervals, and a2a tells from 10 on how far they may be off: --duration 110s has room "
          "for as "
          "many");
    CHECK(few_intervals(9, 4 * kInterval, kInterval / 4, 17) ==
          "shares rest on 9 intervals, and a2a tells from 10 on how far they may be off: --duration 4.25s has room "
          "for as "
          "many");
    CHECK(few_intervals(5, 5 * kInterval, kInterval, 5) ==
          "shares rest on 5 intervals, and a2a tells from 10 on how far they may be off: --duration 10s with "
          "--max-samples 10 has room for as many");
}
