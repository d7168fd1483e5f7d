// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/stats/shared_part.hpp"

#include <cmath>

#include <doctest/doctest.h>

using namespace a2aperf;

namespace {

struct Row {
    std::int64_t path, number, end, sent, received, idle;
};

// Rows of each rank; a rank with fewer has none behind them.
Samples samples_of(const std::vector<std::vector<Row>>& of_ranks) {
    Samples samples;
    samples.ranks = static_cast<int>(of_ranks.size());
    for (const auto& rows : of_ranks) samples.ticks = std::max(samples.ticks, static_cast<int>(rows.size()));
    for (std::size_t tick = 0; tick < static_cast<std::size_t>(samples.ticks); ++tick)
        for (const auto& rows : of_ranks) {
            const Row row = tick < rows.size() ? rows[tick] : Row{kNoMoment, kNoMoment, kNoMoment,
                                                                  kNoMoment, kNoMoment, kNoMoment};
            samples.own["tick_path"].push_back(row.path);
            samples.own["tick_number"].push_back(row.number);
            samples.own["tick_end"].push_back(row.end);
            samples.own["tick_sent"].push_back(row.sent);
            samples.own["tick_received"].push_back(row.received);
            samples.own["tick_idle"].push_back(row.idle);
        }
    return samples;
}

Path path(Rank from, Rank to, Nanoseconds start = 0) {
    return {from, to, {}, 100, 1, "tagged", start, 0};
}

} // namespace

TEST_CASE("intervals are what the receiver got, with the sender's idle time") {
    const Samples samples = samples_of({
        {{0, 0, 10, 5, 0, 1}, {0, 1, 20, 6, 0, 2}, {0, 2, 21, 0, 0, 0}, {1, 0, 10, 3, 0, 0}, {1, 1, 20, 0, 0, 10}},
        {{0, 0, 11, 0, 4, -1}, {0, 1, 20, 0, 7, -1}, {1, 0, 11, 0, 3, -1}, {1, 1, 20, 0, 0, -1}},
    });
    const std::vector<Path> paths{path(0, 1), path(0, 1)};
    const auto intervals = path_intervals(samples, paths, 2);
    REQUIRE(intervals.size() == 2);
    REQUIRE(intervals[0].size() == 2);
    CHECK(intervals[0][1].begin == 11);
    CHECK(intervals[0][1].length == 9);
    CHECK(intervals[0][1].messages == 7);
    CHECK(intervals[0][1].idle == 2);
    CHECK(intervals[1][1].messages == 0); // told, and not left out

    const SharedPart shared = shared_part(intervals, paths);
    CHECK(shared.intervals == 2);
    CHECK(shared.time == 20);
    CHECK(shared.messages == std::vector<std::int64_t>{11, 3});
    CHECK(shared.bytes(paths) == std::vector<double>{1100, 300});
    CHECK(shared.idle[0] == doctest::Approx(3.0 / 20));
    CHECK(shared.is_sender_bound());
}

TEST_CASE("the shared part begins when the last path could send") {
    const Samples samples = samples_of({
        {{0, 0, 10, 5, 0, 0},
         {0, 1, 20, 5, 0, 0},
         {0, 2, 30, 5, 0, 0},
         {1, 0, 10, 0, 0, 0},
         {1, 1, 20, 2, 0, 0},
         {1, 2, 30, 4, 0, 0}},
        {{0, 0, 10, 0, 5, -1},
         {0, 1, 20, 0, 5, -1},
         {0, 2, 30, 0, 5, -1},
         {1, 0, 10, 0, 0, -1},
         {1, 1, 20, 0, 2, -1},
         {1, 2, 30, 0, 4, -1}},
    });
    const std::vector<Path> paths{path(0, 1), path(0, 1, 15)};
    const auto intervals = path_intervals(samples, paths, 3);
    CHECK(intervals[0].size() == 3);
    REQUIRE(intervals[1].size() == 1); // that in which it starts is no whole one
    const SharedPart shared = shared_part(intervals, paths);
    CHECK(shared.intervals == 1);
    CHECK(shared.time == 10);
    CHECK(shared.messages == std::vector<std::int64_t>{5, 4});
    CHECK(!shared.is_sender_bound());
}

TEST_CASE("ticks that a rank took late are one interval of all paths") {
    const Samples samples = samples_of({
        {{0, 0, 10, 1, 0, 0}, {0, 1, 20, 1, 0, 0}, {0, 2, 30, 1, 0, 0}},
        {{0, 0, 27, 0, 2, -1}, {0, 1, 27, 0, 0, -1}, {0, 2, 30, 0, 1, -1}},
    });
    const std::vector<Path> paths{path(0, 1)};
    const auto intervals = path_intervals(samples, paths, 3);
    REQUIRE(intervals[0].size() == 2);
    CHECK(intervals[0][0].length == 27);
    CHECK(intervals[0][0].messages == 2);
    CHECK(intervals[0][1].begin == 27);
    CHECK(intervals[0][1].messages == 1);
}

TEST_CASE("where the sender's part is not known nothing is said of who decided") {
    const Samples samples = samples_of({{{0, 0, 10, 1, 0, -1}}, {{0, 0, 10, 0, 1, -1}}});
    const std::vector<Path> paths{path(0, 1)};
    const auto intervals = path_intervals(samples, paths, 1);
    CHECK(intervals[0][0].idle == -1);
    CHECK(std::isnan(shared_part(intervals, paths).idle[0]));
    CHECK(shared_part(intervals, paths).is_sender_bound());
}
