// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/measure/path_streams.hpp"

#include <algorithm>
#include <initializer_list>
#include <map>

#include "test/mpi/rig.hpp"

using namespace a2aperf;
using test::job;
using test::kMessage;
using test::point_of;
using test::Rig;

namespace {

constexpr Duration kShort{.length = 300'000'000, .tick = 100'000'000, .may_starve = true, .look = 20'000'000};

constexpr std::size_t kSent = 2, kReceived = 3;

// Of a path, at this rank, in all ticks.
std::int64_t sum_of(const Flow& flow, std::int64_t path, std::size_t column) {
    const KeptSamples kept = flow.kept().value();
    std::int64_t sum = 0;
    for (std::size_t row = 0; row < kept.moments.size(); ++row)
        if (kept.values[0][row] == path) sum += kept.values[column][row];
    return sum;
}

struct Paths {
    explicit Paths(std::vector<Path> asked, std::vector<std::string> modes)
        : paths(std::move(asked)), rig(modes, 64 * job().ranks(), static_cast<int>(paths.size()), flow_demands()) {
        for (std::size_t i = 0; i < paths.size(); ++i) paths[i].channel = static_cast<int>(i);
    }

    std::unique_ptr<Flow> run(const Duration& duration) {
        const Point point = point_of(paths.front().mode);
        std::unique_ptr<Flow> flow = make_path_streams(rig.parts(point, 1), paths);
        TickSamples unused(flow->counters());
        (void)flow->run(durations, duration, unused, [](Stage) {});
        return flow;
    }

    // Again while nothing comes on one of these: a rank may have no core for as long as a duration.
    std::unique_ptr<Flow> run_until_moved(std::initializer_list<std::int64_t> these) {
        for (;;) {
            std::unique_ptr<Flow> flow = run(kShort);
            const auto moved = [&](std::int64_t i) { return job().max(sum_of(*flow, i, kReceived)) > 0; };
            if (std::ranges::all_of(these, moved)) return flow;
        }
    }

    std::vector<Path> paths;
    Rig rig;
    DurationLoop durations{job(), rig.clock, rig.deadline};
};

Path path(Rank from, Rank to, std::string mode, Bytes size = kMessage, Nanoseconds start = 0) {
    return {from, to, {}, size, 8, std::move(mode), start, 0};
}

} // namespace

TEST_CASE("paths between the same ranks, of any mode and size, each get what was sent to them") {
    Paths all({path(0, 1, "tagged"), path(0, 1, "msg", 8), path(1, 0, "tagged", 0), path(0, 1, "write-imm")},
              {"tagged", "msg", "write-imm"});
    const auto flow = all.run_until_moved({0, 1, 2, 3});
    for (std::int64_t i = 0; i < std::ssize(all.paths); ++i) {
        const std::int64_t sent = sum_of(*flow, i, kSent), received = sum_of(*flow, i, kReceived);
        const std::int64_t all_sent = job().max(sent), all_received = job().max(received);
        CHECK(all_sent > 0);
        CHECK(all_sent == all_received);
        const Path& here = all.paths[static_cast<std::size_t>(i)];
        CHECK((sent > 0) == (here.from == job().rank()));
        CHECK((received > 0) == (here.to == job().rank()));
    }
    if (job().rank() > 1) CHECK(flow->kept()->moments.empty());
}

TEST_CASE("a path begins when it was told to, and is 0 before") {
    Paths all({path(0, 1, "tagged"), path(0, 1, "tagged", kMessage, 200'000'000)}, {"tagged"});
    const auto flow = all.run_until_moved({1});
    if (job().rank() > 1) return;
    const KeptSamples kept = flow->kept().value();
    std::map<std::int64_t, std::int64_t> of_late; // by tick
    for (std::size_t row = 0; row < kept.moments.size(); ++row)
        if (kept.values[0][row] == 1)
            of_late[kept.values[1][row]] = kept.values[kSent][row] + kept.values[kReceived][row];
    REQUIRE(of_late.size() >= 3);
    CHECK(of_late[0] == 0);
}

TEST_CASE("a path that nobody could send on yet ends the duration with 0, and not the run") {
    Paths all({path(0, 1, "tagged"), path(1, 0, "tagged", kMessage, 3'600'000'000'000)}, {"tagged"});
    const auto flow = all.run_until_moved({0});
    CHECK(sum_of(*flow, 1, kSent) == 0);
    CHECK(sum_of(*flow, 1, kReceived) == 0);
    if (job().rank() < 2) CHECK(sum_of(*flow, 0, kSent) + sum_of(*flow, 0, kReceived) > 0);
}
