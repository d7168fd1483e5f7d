// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/measure/duration_runner.hpp"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <ctime>
#include <functional>
#include <numeric>

#include "a2aperf/base/error.hpp"
#include "a2aperf/job/stop_signal.hpp"
#include "a2aperf/transfer/tagged.hpp"
#include "test/mpi/rig.hpp"
#include "test/mpi/shared_number.hpp"
#include "test/mpi/stream_engine.hpp"

using namespace a2aperf;
using test::job;
using test::kMessage;
using test::kNobody;
using test::point_of;
using test::Rig;
using test::SharedNumber;
using TaggedStream = test::StreamEngine<Tagged>;

namespace {

constexpr int kWindow = 4;
constexpr std::string_view kTickEnd = "tick_end";
const std::vector<std::string_view> kTotals{"all_sent", "all_received"};

DurationRules rules_of(const Duration& duration) {
    DurationRules rules;
    rules.duration = duration;
    rules.tick_end = kTickEnd;
    rules.tick_counts.assign(TaggedStream::kCounters.begin(), TaggedStream::kCounters.end());
    rules.totals = kTotals;
    rules.seed = 3;
    return rules;
}

// Rank 0 sends to rank 1; the others have nothing to do.
test::StreamPeers one_pair() {
    return {job().rank() == 0 ? 1 : kNobody, job().rank() == 1 ? 0 : kNobody};
}

struct Run {
    explicit Run(DurationRules rules)
        : runner(job(), rig.channels.all(), rig.loop, durations, rig.deadline, counters, std::move(rules)) {}

    PointResult measure(std::int64_t most = -1) {
        return runner.measure(point_of("tagged"), [&](const EngineParts& parts) {
            on_begin();
            auto flow = std::make_unique<FlowOf<TaggedStream>>(parts.job, *parts.channels.front(), one_pair(),
                                                               kMessage, kWindow);
            flow->engine().most = most;
            return flow;
        });
    }

    std::function<void()> on_begin = [] {}; // once the point is verified
    Rig rig{{"tagged"}, std::max(job().ranks(), kWindow)};
    DurationLoop durations{job(), rig.clock, rig.deadline};
    NodeCounterReader counters{{}, {}};
    DurationRunner runner;
};

std::int64_t sum_of_rank(const std::vector<std::int64_t>& column, std::size_t rank) {
    std::int64_t sum = 0;
    for (std::size_t i = rank; i < column.size(); i += static_cast<std::size_t>(job().ranks()))
        if (column[i] != kNoMoment) sum += column[i];
    return sum;
}

constexpr Duration kShort{.length = 105'000'000, .tick = 10'000'000};

} // namespace

TEST_CASE("a duration is one op, with the moments of each rank and what came in each tick") {
    PointResult result;
    std::int64_t sent = 0;
    while (sent == 0) { // a rank whose core another has for as long as that sends nothing
        result = Run(rules_of(kShort)).measure();
        sent = job().max(job().is_root() ? result.samples.own.at("all_sent")[0] : 0);
    }
    const Samples& samples = result.samples;
    CHECK(samples.ticks == 12);
    CHECK(samples.attempts() == (job().is_root() ? 1 : 0));
    if (!job().is_root()) return;
    const auto ranks = static_cast<std::size_t>(job().ranks());
    CHECK(result.stop_rule == StopRule::duration);
    CHECK(result.ticks_lost == 0);
    CHECK(result.summary.count == 1);
    CHECK(result.summary.p50 == static_cast<double>(std::max(samples.send_done[0], samples.recv_done[1])));
    CHECK(std::isnan(result.warmup_p50_ns));
    CHECK(result.duration_ns >= kShort.length);
    CHECK(result.ranks.size() == ranks);
    CHECK(result.nodes.size() == 1);
    CHECK(samples.begin[0] > 0);
    CHECK(samples.recv_done[1] > samples.begin[0]);
    for (std::size_t rank = 2; rank < ranks; ++rank) // idle
        CHECK(std::max({samples.begin[rank], samples.send_done[rank], samples.recv_done[rank]}) == 0);

    const std::vector<std::int64_t>& ends = samples.own.at(kTickEnd);
    REQUIRE(ends.size() == 12 * ranks);
    for (std::size_t tick = 0; tick < 11; ++tick)
        for (std::size_t rank = 0; rank < ranks; ++rank) CHECK(ends[tick * ranks + rank] >= kShort.end_of(tick));
    CHECK(samples.own.at("all_received")[1] == sent);
    CHECK(samples.own.at("all_received")[0] == 0);
    CHECK(sum_of_rank(samples.own.at("messages_received"), 1) == sent);
    CHECK(sum_of_rank(samples.own.at("bytes_received"), 1) == sent * static_cast<std::int64_t>(kMessage));
    CHECK(sum_of_rank(samples.own.at("messages_received"), 0) == 0);
}

TEST_CASE("a number of messages ends it; ranks that had no tick have none in the samples") {
    const PointResult result = Run(rules_of({.length = 3'600'000'000'000, .tick = 1'000'000'000})).measure(50);
    if (!job().is_root()) return;
    CHECK(result.stop_rule == StopRule::messages);
    CHECK(result.samples.own.at("all_received")[1] == 50);
    CHECK(result.samples.own.at("messages_received").size() ==
          static_cast<std::size_t>(result.samples.ticks * job().ranks()));
}

TEST_CASE("ticks for which there is no room are counted, and the totals are whole") {
    Duration duration = kShort;
    duration.most_samples = 5;
    const PointResult result = Run(rules_of(duration)).measure();
    if (!job().is_root()) return;
    CHECK(result.samples.ticks == 4); // and no row for what came after them
    CHECK(result.ticks_lost == 7);
    CHECK(result.samples.own.at(kTickEnd).size() == static_cast<std::size_t>(4 * job().ranks()));
    CHECK(result.samples.own.at("all_received")[1] == result.samples.own.at("all_sent")[0]);
    CHECK(sum_of_rank(result.samples.own.at("messages_received"), 1) <= result.samples.own.at("all_received")[1]);
}

TEST_CASE("what ends a point that does not end by itself is as its caller says") {
    DurationRules rules = rules_of(kShort);
    rules.at_its_end = StopRule::time_budget;
    const PointResult result = Run(rules).measure();
    if (job().is_root()) CHECK(result.stop_rule == StopRule::time_budget);
}

TEST_CASE("nothing is sent of a point whose verification fails") {
    DurationRules rules = rules_of(kShort);
    rules.seed = job().rank() == 0 ? 4 : 5;
    Run run(rules);
    bool has_begun = false;
    run.on_begin = [&] { has_begun = true; };
    CHECK_THROWS_AS(run.measure(), RunError);
    CHECK_FALSE(has_begun);
}

TEST_CASE("what is declared and what is told must be as many") {
    DurationRules rules = rules_of(kShort);
    rules.totals.pop_back();
    CHECK_THROWS_WITH_AS(Run(rules).measure(), "a defect of the program: the flow gave 2 totals, expected 1",
                         RunError);
    rules = rules_of(kShort);
    rules.tick_counts.pop_back();
    CHECK_THROWS_WITH_AS(Run(rules).measure(), "a defect of the program: the flow gave 5 counters, expected 4",
                         RunError);
}

TEST_CASE("the counters of a rank are of the timed part: not of what comes before the start or after the end") {
    // Of CPU time; the timed part cannot take so much in its duration.
    constexpr Nanoseconds kMuch = 500'000'000;
    static_assert(kMuch > 4 * kShort.length);
    const auto cpu_time = [] {
        timespec time{};
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
        return Nanoseconds{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
    };
    struct Busy : TaggedStream {
        using TaggedStream::TaggedStream;
        void prepare() {
            on_prepare();
            TaggedStream::prepare();
        }
        std::function<void()> on_prepare;
    };
    Run run(rules_of(kShort));
    const PointResult result = run.runner.measure(point_of("tagged"), [&](const EngineParts& parts) {
        auto flow =
            std::make_unique<FlowOf<Busy>>(parts.job, *parts.channels.front(), one_pair(), kMessage, kWindow);
        flow->engine().on_prepare = [&] {
            for (const Nanoseconds end = cpu_time() + kMuch; cpu_time() < end;) {
            }
        };
        return flow;
    });
    for (const RankCounters& rank : result.ranks) {
        CHECK(rank.user_time_ns + rank.system_time_ns < kMuch);
        CHECK(rank.threads > 0);
    }
    // Nothing is left out between the two values.
    for (std::size_t r = 0; r < result.ranks.size(); ++r) {
        const RankCounters& before = result.before.ranks.at(r);
        for (const auto member : {&RankCounters::voluntary_switches, &RankCounters::involuntary_switches,
                                  &RankCounters::minor_faults, &RankCounters::user_time_ns})
            CHECK(result.after.ranks.at(r).*member == before.*member + result.ranks[r].*member);
        CHECK(before.user_time_ns + before.system_time_ns >= kMuch); // of the whole process
        CHECK(before.threads > 0);
    }
    for (std::size_t n = 0; n < result.nodes.size(); ++n) {
        const std::int64_t idle = result.nodes[n].idle_time_ns;
        if (idle >= 0)
            CHECK(result.after.nodes.at(n).idle_time_ns == result.before.nodes.at(n).idle_time_ns + idle);
    }
}

// The last one: the signal stays.
TEST_CASE("a signal, which launchers send to all ranks, leaves no result of the point") {
    StopSignal::install();
    test::expect_a_signal();
    Run run(rules_of({.length = 3'600'000'000'000, .tick = 10'000'000}));
    SharedNumber have_left;
    run.on_begin = [] { raise(SIGTERM); };
    CHECK_THROWS_AS(run.measure(), Interrupted);
    // Nobody closes what others may still read.
    have_left.add();
    have_left.await(job().ranks());
}
