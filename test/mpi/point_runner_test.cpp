// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/measure/point_runner.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <mpi.h>

#include "a2aperf/base/clock.hpp"
#include "a2aperf/base/error.hpp"
#include "a2aperf/stats/pair_times.hpp"
#include "test/mpi/rig.hpp"

using namespace a2aperf;
using test::job;
using test::kMessage;
using test::point_of;
using test::Rig;

namespace {

// Bytes that this rank gave to rank 0, by the calls of MPI that were made for it.
std::vector<std::size_t>& gathered() {
    static std::vector<std::size_t> all;
    return all;
}

} // namespace

// In place of MPI's own, which it calls.
extern "C" int MPI_Igather(const void* mine, int count, MPI_Datatype type, void* all, int of_each,
                           MPI_Datatype of_type, int root, MPI_Comm comm, MPI_Request* request) {
    int size = 0;
    MPI_Type_size(type, &size);
    gathered().push_back(static_cast<std::size_t>(count) * static_cast<std::size_t>(size));
    return PMPI_Igather(mine, count, type, all, of_each, of_type, root, comm, request);
}

namespace {

RunRules rules_of(int ops, int warmup) {
    RunRules rules;
    rules.ops = ops;
    rules.warmup = warmup;
    rules.seed = 3;
    return rules;
}

struct Run {
    explicit Run(RunRules rules, Start start = Start::barrier)
        : runner(job(), rig.channels.all(), rig.loop, rig.deadline, counters, rules) {
        rig.loop.set_start(start);
    }
    PointResult measure() { return runner.measure(point_of("tagged")).own; }

    Rig rig{{"tagged"}, job().ranks()};
    NodeCounterReader counters{{}, {}};
    PointRunner runner;
};

// How many ops of each side follow one another, in the order of their starts; the first is of `a`.
std::vector<int> turns(const Samples& a, const Samples& b) {
    std::vector<std::pair<Nanoseconds, int>> ops;
    for (const Nanoseconds start : a.start) ops.emplace_back(start, 0);
    for (const Nanoseconds start : b.start) ops.emplace_back(start, 1);
    std::sort(ops.begin(), ops.end());
    std::vector<int> lengths{0};
    int side = 0;
    for (const auto& [start, of] : ops) {
        if (of != side) lengths.push_back(0);
        side = of;
        ++lengths.back();
    }
    return lengths;
}

// Notes how its rank waits in each op.
class Noting final : public Engine {
public:
    Noting(const Deadline& deadline, std::vector<Polling>& noted) : deadline_(deadline), noted_(noted) {}
    void prepare(std::uint64_t) override {}
    bool progress() override { return false; }
    Moments run() override {
        noted_.push_back(deadline_.polling());
        return {now_ns(), now_ns()};
    }

private:
    const Deadline& deadline_;
    std::vector<Polling>& noted_;
};

} // namespace

TEST_CASE("ranks wait as their point says, block by block, and as the launch does where it says nothing") {
    Run run(rules_of(20, 1));
    std::vector<Polling> noted;
    run.runner.set_engine(
        [&](const EngineParts& parts) { return std::make_unique<Noting>(parts.deadline, noted); });
    Point one = point_of("tagged"), other = one;
    one.polling = PollingWay{Polling::yield};
    other.polling = PollingWay{Polling::throttle, 7};
    run.runner.measure(one, &other);
    // Their warm-ups, and then blocks of ten ops: A B B A.
    std::vector<Polling> due{Polling::yield, Polling::throttle};
    for (const Polling way : {Polling::yield, Polling::throttle, Polling::throttle, Polling::yield})
        due.insert(due.end(), 10, way);
    CHECK(noted == due);
    const Polling usual = Rig{{"tagged"}, job().ranks()}.deadline.polling();
    noted.clear();
    run.runner.measure(point_of("tagged"));
    CHECK(noted == std::vector<Polling>(21, usual));
}

TEST_CASE("a point has the ops that were asked for, and neither its verification nor its warm-up among them") {
    Run run(rules_of(25, 5));
    const PointResult result = run.measure();
    CHECK(run.rig.loop.next_op() == 1 + 5 + 25 + 1);
    CHECK(result.samples.attempts() == (job().is_root() ? 25 : 0));
    if (!job().is_root()) return;
    const auto ranks = static_cast<std::size_t>(job().ranks());
    CHECK(result.stop_rule == StopRule::ops);
    CHECK(result.samples.valid_ops() == 25);
    for (const auto* column : {&result.samples.begin, &result.samples.send_done, &result.samples.recv_done})
        CHECK(column->size() == 25 * ranks);
    CHECK(std::is_sorted(result.samples.start.begin(), result.samples.start.end()));
    CHECK(result.ranks.size() == ranks);
    CHECK(result.nodes.size() == 1);
    CHECK(result.buffer_slots == job().ranks());
    CHECK(result.late_limit_ns == -1);
    CHECK(result.warmup_p50_ns > 0);
    CHECK(result.samples.arrival.empty());
}

TEST_CASE(
    "what had been counted before the first block and after the last is told beside what the blocks counted") {
    constexpr int kOps = 25; // in three blocks
    Run run(rules_of(kOps, 5));
    const RankCounters outside = read_usage();
    const PointResult result = run.measure();
    const RankCounters later = read_usage();
    if (job().is_root()) {
        REQUIRE(result.before.ranks.size() == static_cast<std::size_t>(job().ranks()));
        REQUIRE(result.after.ranks.size() == result.before.ranks.size());
        CHECK(result.before.ranks[0].user_time_ns >= outside.user_time_ns);
        CHECK(result.after.ranks[0].user_time_ns <= later.user_time_ns);
        CHECK(result.before.ranks[0].minor_faults > 0); // of the whole process, and not of the point
        REQUIRE(result.before.nodes.size() == result.nodes.size());
    }
    for (std::size_t r = 0; r < result.before.ranks.size(); ++r) {
        const RankCounters& before = result.before.ranks[r];
        const RankCounters& after = result.after.ranks[r];
        // What a rank does between blocks is in the second value, and not in the difference.
        for (const auto member : {&RankCounters::voluntary_switches, &RankCounters::minor_faults,
                                  &RankCounters::user_time_ns, &RankCounters::system_time_ns})
            CHECK(after.*member >= before.*member + result.ranks[r].*member);
        CHECK(before.resident_memory > 0);
        CHECK(before.threads > 0);
        CHECK(before.cpu_frequency_khz != 0);
        CHECK(after.cpu_frequency_khz != 0);
    }
    for (std::size_t n = 0; n < result.before.nodes.size(); ++n) {
        const std::int64_t idle = result.nodes[n].idle_time_ns;
        if (idle >= 0) CHECK(result.after.nodes[n].idle_time_ns >= result.before.nodes[n].idle_time_ns + idle);
    }
}

TEST_CASE("without a warm-up there is no figure of it") {
    Run run(rules_of(3, 0));
    const PointResult result = run.measure();
    CHECK(run.rig.loop.next_op() == 1 + 3 + 1);
    if (!job().is_root()) return;
    CHECK(std::isnan(result.warmup_p50_ns));
    CHECK(result.samples.attempts() == 3);
}

TEST_CASE("a precision ends a point when it is reached, and the most ops where it never is") {
    RunRules rules = rules_of(1, 2);
    rules.min_ops = 30;
    rules.max_ops = 200;
    rules.precision = 1e9;
    const PointResult reached = Run(rules).measure();
    rules.max_ops = 50;
    rules.precision = -1;
    const PointResult never = Run(rules).measure();
    if (!job().is_root()) return;
    CHECK(reached.stop_rule == StopRule::precision);
    CHECK(reached.samples.valid_ops() >= 30);
    CHECK(reached.samples.valid_ops() < 200);
    CHECK(never.stop_rule == StopRule::max_ops);
    CHECK(never.samples.valid_ops() == 50);
}

TEST_CASE("a time budget ends a point after the block in which it ran out") {
    RunRules rules = rules_of(1000, 2);
    rules.time_budget = 1;
    const PointResult result = Run(rules).measure();
    if (!job().is_root()) return;
    CHECK(result.stop_rule == StopRule::time_budget);
    CHECK(result.samples.attempts() == 10);
}

TEST_CASE("an op with a late rank is kept and does not count, and twice the ops are attempted at most") {
    const PointResult result = Run(rules_of(12, 2), Start::clock).measure();
    if (!job().is_root()) return;
    const Samples& samples = result.samples;
    CHECK(result.late_limit_ns >= 1000);
    for (int op = 0; op < samples.attempts(); ++op) {
        const auto first = samples.begin.begin() + static_cast<std::ptrdiff_t>(op) * job().ranks();
        const Nanoseconds latest = *std::max_element(first, first + job().ranks());
        CHECK((samples.valid[static_cast<std::size_t>(op)] == 1) == (latest <= result.late_limit_ns));
    }
    if (result.stop_rule == StopRule::attempts) {
        CHECK(samples.attempts() == 24);
        CHECK(samples.valid_ops() < 12);
    } else {
        CHECK(result.stop_rule == StopRule::ops);
        CHECK(samples.valid_ops() == 12);
        CHECK(samples.attempts() <= 24);
    }
}

TEST_CASE("two engines take turns, A B B A: each block of one has a block of the other beside it") {
    Run run(rules_of(45, 2));
    Point other = point_of("collective");
    SUBCASE("MPI") {
        other.role = Role::baseline;
    }
    SUBCASE("another setting of our own") {
        other = point_of("tagged");
        other.window = 1;
    }
    const PointOutcome outcome = run.runner.measure(point_of("tagged"), &other);
    CHECK(outcome.beside.has_value());
    if (!job().is_root()) return;
    const Samples& own = outcome.own.samples;
    const Samples& baseline = outcome.beside->samples;
    CHECK(own.attempts() == 45);
    CHECK(baseline.attempts() == 45);
    // A turn but the first and the last is of two blocks: the second one is as long as the next turn's first.
    const std::vector<int> lengths = turns(own, baseline);
    REQUIRE(lengths.size() >= 6); // blocks of 10 at most
    int block = lengths.front();
    for (std::size_t turn = 1; turn < lengths.size(); ++turn) {
        CHECK(block >= 1);
        CHECK(block <= 10);
        block = lengths[turn] - block;
    }
    CHECK(block == 0);
    CHECK(outcome.own.summary.ratio * outcome.beside->summary.ratio == doctest::Approx(1));
    CHECK(outcome.beside->verification.ranks.empty() == other.is_baseline());
}

TEST_CASE("messages that go one way have no ratio where ops start at a barrier") {
    for (const Start start : {Start::barrier, Start::clock}) {
        RunRules rules = rules_of(45, 2);
        rules.has_late_limit = false;
        rules.summary.loads.goes_one_way = true;
        Run run(rules, start);
        Point other = point_of("tagged");
        other.window = 1;
        const PointOutcome outcome = run.runner.measure(point_of("tagged"), &other);
        if (!job().is_root()) continue;
        const bool is_told = start == Start::clock;
        for (const PointResult* result : {&outcome.own, &*outcome.beside}) {
            CHECK(result->summary.count == 45);
            CHECK(std::isfinite(result->summary.ratio) == is_told);
            if (!is_told) CHECK(std::isnan(result->summary.ratio_low));
            if (!is_told) CHECK(std::isnan(result->summary.ratio_high));
        }
    }
}

TEST_CASE("between blocks all ranks keep the clock, and rank 0 reports") {
    RunRules rules = rules_of(25, 2);
    Run run(rules);
    int kept = 0;
    std::vector<std::pair<int, int>> reports;
    run.runner.set_clock_keeper([&] { return static_cast<double>(++kept); });
    run.runner.set_progress([&](int done, int expected, double op_time) {
        reports.emplace_back(done, expected);
        CHECK(op_time > 0);
    });
    const PointResult result = run.measure();
    const auto kept_by_ranks = job().all_gather(kept);
    CHECK(std::count(kept_by_ranks.begin(), kept_by_ranks.end(), kept) == job().ranks());
    CHECK(kept >= 2); // before the point, and after its first block of 10
    CHECK(reports.empty() == !job().is_root());
    if (!job().is_root()) return;
    CHECK(result.clock_error_ns == kept);
    CHECK(reports.back() == std::pair(25, 25));
    CHECK(std::is_sorted(reports.begin(), reports.end()));
    CHECK(reports.size() == static_cast<std::size_t>(kept));
}

TEST_CASE("a trace has the arrival of each message at each rank, and none from itself") {
    RunRules rules = rules_of(12, 2);
    rules.traces = true;
    const PointResult result = Run(rules).measure();
    if (!job().is_root()) return;
    const auto ranks = static_cast<std::size_t>(job().ranks());
    const Samples& samples = result.samples;
    REQUIRE(samples.arrival.size() == 12 * ranks * ranks);
    for (std::size_t op = 0; op < 12; ++op)
        for (std::size_t rank = 0; rank < ranks; ++rank) {
            const auto first = samples.arrival.begin() + static_cast<std::ptrdiff_t>((op * ranks + rank) * ranks);
            for (std::size_t source = 0; source < ranks; ++source)
                CHECK((first[static_cast<std::ptrdiff_t>(source)] > 0) == (source != rank));
            CHECK(*std::max_element(first, first + job().ranks()) <= samples.recv_done[op * ranks + rank]);
        }
}

TEST_CASE("of a trace the messages of one op are under way at once, and not those of a block") {
    RunRules rules = rules_of(64, 2);
    rules.block = 64;
    rules.traces = true;
    gathered().clear();
    const PointResult result = Run(rules).measure();
    const auto ranks = static_cast<std::size_t>(job().ranks());
    CHECK(std::ranges::count(gathered(), ranks * sizeof(Nanoseconds)) >= 64);
    // The four times of each op of the block are the most that a rank gives.
    CHECK(std::ranges::max(gathered()) == 4 * 64 * sizeof(Nanoseconds));
    if (job().is_root()) CHECK(result.samples.arrival.size() == 64 * ranks * ranks);
}

// An op that is over at once, after a moment of its rank's own.
struct OwnEngine final : Engine {
    void prepare(std::uint64_t) override {}
    bool progress() override { return false; }
    Moments run() override {
        moments[0] = now_ns();
        return {moments[0] + job().rank(), moments[0] + 1000};
    }
    std::span<const Nanoseconds> own_moments() const override { return moments; }

    std::array<Nanoseconds, 2> moments{0, kNoMoment};
};

TEST_CASE("moments of the engine's own reach the samples under their names, op by op and rank by rank") {
    for (const Start start : {Start::barrier, Start::clock}) {
        RunRules rules = rules_of(23, 2);
        rules.own_samples = {"turned", "never"};
        Run run(rules, start);
        run.runner.set_engine([](const EngineParts&) { return std::make_unique<OwnEngine>(); });
        const Samples samples = run.runner.sample(point_of("tagged"));
        if (!job().is_root()) continue;
        const std::vector<Nanoseconds>& turned = samples.own.at("turned");
        REQUIRE(turned.size() == 23 * static_cast<std::size_t>(job().ranks()));
        for (std::size_t i = 0; i < turned.size(); ++i)
            CHECK(turned[i] == samples.send_done[i] - static_cast<Nanoseconds>(i) % job().ranks());
        CHECK(samples.own.at("never") == std::vector<Nanoseconds>(turned.size(), kNoMoment));
    }
}

// What it tells beside the op is too little, or too much.
struct MiscountingEngine final : Engine {
    MiscountingEngine(std::size_t own, std::size_t messages) : moments(own, 1), arrivals(messages, 1) {}
    void prepare(std::uint64_t) override {}
    bool progress() override { return false; }
    Moments run() override {
        const Nanoseconds now = now_ns();
        return {now, now};
    }
    std::span<const Nanoseconds> arrival_times() const override { return arrivals; }
    std::span<const Nanoseconds> own_moments() const override { return moments; }

    std::vector<Nanoseconds> moments, arrivals;
};

Samples sample_miscounted(const std::vector<std::string_view>& declared, std::size_t own, std::size_t messages) {
    RunRules rules = rules_of(6, 0);
    rules.own_samples = declared;
    rules.traces = true;
    Run run(rules);
    run.runner.set_engine([&](const EngineParts&) { return std::make_unique<MiscountingEngine>(own, messages); });
    return run.runner.sample(point_of("tagged"));
}

TEST_CASE("an engine that tells more or fewer moments than its workload declares is caught") {
    const auto ranks = static_cast<std::size_t>(job().ranks());
    for (const std::size_t own : {1U, 3U, 4U})
        CHECK_THROWS_WITH_AS(sample_miscounted({"asked", "turned"}, own, ranks),
                             doctest::Contains("own moments in 6 ops, expected 2 in each"), RunError);
    CHECK_THROWS_WITH_AS(sample_miscounted({}, 1, ranks),
                         doctest::Contains("6 own moments in 6 ops, expected 0 in each"), RunError);
    for (const std::size_t messages : {ranks - 1, ranks + 1})
        CHECK_THROWS_WITH_AS(sample_miscounted({"turned"}, 1, messages), doctest::Contains("arrivals in 6 ops"),
                             RunError);

    // What says nothing at all has no moments, as the baseline.
    const Samples samples = sample_miscounted({"asked", "turned"}, 0, 0);
    if (!job().is_root()) return;
    for (const char* name : {"asked", "turned"})
        CHECK(samples.own.at(name) == std::vector<Nanoseconds>(6 * ranks, kNoMoment));
    CHECK(samples.arrival == std::vector<Nanoseconds>(6 * ranks * ranks, -1));
}

TEST_CASE("a point is summarised as its workload does it") {
    RunRules rules = rules_of(5, 0);
    rules.summarise = summarise_step;
    const PointResult result = Run(rules).measure();
    if (!job().is_root()) return;
    CHECK(result.summary.gbps.rank == doctest::Approx(8 * kMessage / result.summary.p50));
}

TEST_CASE("nothing is timed of a point whose verification fails") {
    RunRules rules = rules_of(5, 2);
    rules.seed = job().rank() == 0 ? 4 : 5;
    Run run(rules);
    CHECK_THROWS_AS(run.measure(), RunError);
    CHECK(run.rig.loop.next_op() == 2);
}

TEST_CASE("an isolated pair has a time for each op, on rank 0") {
    Run run(rules_of(7, 2));
    Point point = point_of("tagged");
    point.distance = 1;
    run.runner.verify(point);
    point.only_sender = job().ranks() - 1;
    const std::vector<Nanoseconds> times = transfer_times(run.runner.sample(point), point.only_sender, 0);
    CHECK(times.size() == (job().is_root() ? 7 : 0));
    CHECK(std::all_of(times.begin(), times.end(), [](Nanoseconds time) { return time > 0; }));
}
