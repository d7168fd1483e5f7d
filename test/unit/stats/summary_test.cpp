// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/stats/summary.hpp"

#include <cmath>

#include <doctest/doctest.h>

#include "a2aperf/base/random.hpp"

using namespace a2aperf;
using doctest::Approx;

namespace {

// One rank's op takes times[i]; the other ranks are done at once.
Samples ops_of(const std::vector<Nanoseconds>& times, int ranks, Rank slow) {
    Samples samples;
    samples.ranks = ranks;
    for (const Nanoseconds time : times) {
        for (Rank rank = 0; rank < ranks; ++rank) {
            samples.begin.push_back(0);
            samples.send_done.push_back(1);
            samples.recv_done.push_back(rank == slow ? time : 1);
        }
        samples.start.push_back(static_cast<Nanoseconds>(samples.start.size()) * 1'000'000);
        samples.valid.push_back(1);
    }
    return samples;
}

bool is_absent(double figure) {
    return std::isnan(figure);
}

} // namespace

TEST_CASE("the row (20, 1000) of the 2019 table: half the ops fast, the mean far above") {
    // 100 ops with the printed p50 and mean: 51 at 67.51 us, the rest equal
    std::vector<Nanoseconds> times(100, 67'510);
    const Nanoseconds slow = (26'397'000 - 51 * 67'510) / 49;
    for (std::size_t i = 51; i < 100; ++i) times[i] = slow;
    Random(1).shuffle(std::span(times));
    const Summary summary = summarise(ops_of(times, 20, 3), Layout::blocks(20, 1), 1000, {});
    CHECK(summary.count == 100);
    CHECK(summary.mean / 1000 == Approx(263.97).epsilon(1e-4));
    CHECK(std::round(summary.gbps.compat * 100) == 237);
    CHECK(std::round(summary.gbps_sustained * 100) == 58);
    CHECK(std::round(summary.gbps_sustained_compat * 100) == 61);
}

TEST_CASE("of ops in which the receivers fetch the messages, the reads decide") {
    const Samples samples{.ranks = 2,
                          .begin = {0, 10, 0, 0},
                          .send_done = {kNoMoment, kNoMoment, kNoMoment, kNoMoment},
                          .recv_done = {90, 110, 150, 140},
                          .start = {0, 1},
                          .valid = {1, 1}};
    const Summary s = summarise(samples, Layout::blocks(2, 1), 1, {.has_common_start = true});
    CHECK(s.min == 110);
    CHECK(s.max == 150);
    CHECK(s.span_p50 == 110);
    CHECK(s.rank_time_p50 == 100); // 90 100 140 150
    CHECK(s.last_rank_share == 0.5);
}

TEST_CASE("ops that follow one another have rates of the whole, and nobody is last") {
    // On the common clock rank 0 has 0 to 100 and 100 to 180, rank 1 has 20 to 110 and 110 to 200; a pause; and
    // both 1000 to 1050.
    const Samples samples{.ranks = 2,
                          .begin = {0, 0, 0, 0, 0, 0},
                          .send_done = {60, 50, 80, 90, 50, 50},
                          .recv_done = {100, 90, 70, 80, 50, 50},
                          .start = {0, 100, 1000},
                          .valid = {1, 1, 1},
                          .exit = {0, 20, 0, 10, 0, 0}};
    CHECK(whole_time(samples, CompleteAt::receiver) == 250);
    CHECK(whole_time(samples, CompleteAt::sender) == 70 + 100 + 50); // 0 to 70, 100 to 200, 1000 to 1050
    const Summary s = summarise(samples, Layout::blocks(2, 1), 1000, {.follows_on = true});
    CHECK(s.count == 3);
    CHECK(s.p50 == 90); // 100 90 50
    CHECK(s.whole_time == 250);
    CHECK(s.gbps.rank == Approx(3 * 8000.0 / 250));
    CHECK(s.gbps_sustained == Approx(3 * 8000.0 / 250));
    CHECK(s.last_rank == -1);
    CHECK(is_absent(s.last_rank_share));
    CHECK(is_absent(s.span_p50));
    CHECK(is_absent(summarise(samples, Layout::blocks(2, 1), 1000, {}).whole_time));
    const Samples none{.ranks = 2, .begin = {}, .send_done = {}, .recv_done = {}, .start = {}, .valid = {}};
    CHECK(is_absent(summarise(none, Layout::blocks(2, 1), 1000, {.follows_on = true}).gbps.rank));
}

TEST_CASE("the figures of a small sample, by hand") {
    Samples samples{.ranks = 2,
                    .begin = {0, 10, 0, 0, 5, 0, 0, 0},
                    .send_done = {100, 90, 200, 180, 100, 100, 7, 7},
                    .recv_done = {90, 110, 150, 190, 100, 300, 7, 7},
                    .start = {0, 1, 2, 3},
                    .valid = {1, 1, 1, 0}};
    const SummaryRules rules{.has_common_start = true, .node_link_gbps = 0.1};
    const Summary s = summarise(samples, Layout::blocks(2, 1), 1, rules);
    CHECK(s.count == 3);
    CHECK(s.invalid == 1);
    CHECK(s.min == 110); // T = 110, 200, 300
    CHECK(s.p50 == 200);
    CHECK(s.p90 == 300);
    CHECK(s.p99 == 300);
    CHECK(s.max == 300);
    CHECK(s.p99_is_max);
    CHECK(s.mean == Approx(610.0 / 3));
    CHECK(s.stddev == Approx(std::sqrt((8711.1 + 11.1 + 9344.4) / 2)).epsilon(1e-4));
    CHECK(s.span_p50 == 200);      // 110, 200, 300
    CHECK(s.rank_time_p50 == 100); // 100 100 200 190 95 300: the third of six
    CHECK(s.last_rank == 1);       // last in ops 0 and 2
    CHECK(s.last_rank_share == Approx(2.0 / 3));
    CHECK(s.gbps.rank == Approx(8.0 / 200));
    CHECK(s.gbps.node_net == Approx(0.04));
    CHECK(s.efficiency == Approx(0.4));
    CHECK(s.interval_kind == IntervalKind::none);
    CHECK(is_absent(s.p50_low));
    CHECK(is_absent(s.p99_high));
    CHECK(is_absent(s.ratio));
}

TEST_CASE("rules change what they name") {
    Samples samples{.ranks = 2,
                    .begin = {0, 0, 0, 0},
                    .send_done = {100, 90, 50, 60},
                    .recv_done = {400, 110, 300, 80},
                    .start = {0, 1},
                    .valid = {1, 1}};
    const Layout layout = Layout::blocks(2, 1);
    CHECK(summarise(samples, layout, 1, {}).p50 == 300);
    CHECK(summarise(samples, layout, 1, {.percentile = PercentileRule::index}).p50 == 400);
    CHECK(summarise(samples, layout, 1, {.complete_at = CompleteAt::sender}).p50 == 60);
    CHECK(is_absent(summarise(samples, layout, 1, {}).span_p50));
    CHECK(is_absent(summarise(samples, layout, 1, {}).efficiency));
}

TEST_CASE("of ranks that end at the same moment the lowest is the last one") {
    const Summary summary =
        summarise(ops_of({1, 1, 1}, 4, 2), Layout::blocks(4, 2), 1000, {.has_common_start = true});
    CHECK(summary.last_rank == 0);
    CHECK(summary.last_rank_share == 1);
}

TEST_CASE("with a barrier start the common clock says who was last, or nobody does") {
    // Rank 1 takes longest and rank 2, which left the barrier 400 ns later, is last.
    Samples samples = ops_of({300, 300}, 4, 1);
    const Layout layout = Layout::blocks(4, 2);
    CHECK(summarise(samples, layout, 1000, {}).last_rank == -1);
    CHECK(is_absent(summarise(samples, layout, 1000, {}).last_rank_share));

    samples.exit = {0, 0, 400, 0, 0, 0, 400, 0};
    const Summary summary = summarise(samples, layout, 1000, {});
    CHECK(summary.last_rank == 2);
    CHECK(summary.last_rank_share == 1);
    CHECK(summary.p50 == 300); // the longest of the ranks' own times all the same
    CHECK(summarise(samples, layout, 1000, {.clock_error_ns = 15}).last_rank == 2);
    CHECK(summarise(samples, layout, 1000, {.clock_error_ns = 16}).last_rank == -1); // above 5 % of 300
}

TEST_CASE("without a valid op every figure is absent") {
    Samples samples = ops_of({100, 200}, 4, 0);
    samples.valid = {0, 0};
    Samples empty;
    empty.ranks = 4;
    for (const Samples& s : {samples, empty}) {
        const Summary summary = summarise(s, Layout::blocks(4, 2), 1000, {.has_common_start = true});
        CHECK(summary.count == 0);
        CHECK(summary.invalid == s.valid.size());
        CHECK(summary.last_rank == -1);
        for (const double figure :
             {summary.min, summary.mean, summary.p50, summary.p90, summary.p99, summary.max, summary.stddev,
              summary.p50_low, summary.p99_low, summary.autocorrelation, summary.span_p50, summary.rank_time_p50,
              summary.gbps.rank, summary.gbps.node_net, summary.gbps.msg_rate, summary.gbps_sustained,
              summary.efficiency, summary.last_rank_share}) {
            CHECK(is_absent(figure));
        }
    }
}

TEST_CASE("a single op has no spread and no interval") {
    const Summary summary = summarise(ops_of({500}, 4, 2), Layout::blocks(4, 2), 1000, {.has_common_start = true});
    CHECK(summary.p50 == 500);
    CHECK(is_absent(summary.stddev));
    CHECK(is_absent(summary.p50_low));
    CHECK(is_absent(summary.autocorrelation));
    CHECK(summary.last_rank == 2);
    CHECK(summary.last_rank_share == 1);
}

TEST_CASE("with one node there is no efficiency") {
    const SummaryRules rules{.node_link_gbps = 100};
    CHECK(is_absent(summarise(ops_of({500}, 4, 2), Layout::blocks(4, 4), 1000, rules).efficiency));
}

TEST_CASE("p99 is marked as the maximum by the rule that is in force") {
    const Layout layout = Layout::blocks(2, 1);
    const auto mark = [&](std::size_t n, PercentileRule rule) {
        return summarise(ops_of(std::vector<Nanoseconds>(n, 5), 2, 0), layout, 1, {.percentile = rule}).p99_is_max;
    };
    CHECK(mark(99, PercentileRule::rank));
    CHECK_FALSE(mark(100, PercentileRule::rank));
    CHECK(mark(100, PercentileRule::index));
    CHECK_FALSE(mark(101, PercentileRule::index));
}

TEST_CASE("the p99 interval appears with 368 ops") {
    Random random(8);
    std::vector<Nanoseconds> times(368);
    for (Nanoseconds& time : times) time = static_cast<Nanoseconds>(1000 + random.below(1000));
    const Layout layout = Layout::blocks(2, 1);
    const Summary enough = summarise(ops_of(times, 2, 0), layout, 1, {});
    CHECK(enough.p99_low <= enough.p99);
    CHECK(enough.p99_high == enough.max);
    CHECK(enough.p50_low < enough.p50);
    CHECK(enough.p50 < enough.p50_high);
    times.pop_back();
    CHECK(is_absent(summarise(ops_of(times, 2, 0), layout, 1, {}).p99_high));
}

TEST_CASE("invalid ops change no figure but their own count") {
    Random random(12);
    Samples with;
    Samples without;
    with.ranks = without.ranks = 5;
    for (int attempt = 0; attempt < 300; ++attempt) {
        const bool is_valid = random.below(3) > 0;
        const auto add = [&](Samples& samples, std::uint64_t seed) {
            Random moments(seed);
            for (int rank = 0; rank < 5; ++rank) {
                samples.begin.push_back(static_cast<Nanoseconds>(moments.below(20)));
                samples.send_done.push_back(static_cast<Nanoseconds>(100 + moments.below(900)));
                samples.recv_done.push_back(static_cast<Nanoseconds>(100 + moments.below(900)));
            }
            samples.start.push_back(attempt);
            samples.valid.push_back(is_valid ? 1 : 0);
        };
        add(with, static_cast<std::uint64_t>(attempt));
        if (is_valid) add(without, static_cast<std::uint64_t>(attempt));
    }
    const SummaryRules rules{.has_common_start = true};
    const Summary a = summarise(with, Layout::blocks(5, 2), 1000, rules);
    const Summary b = summarise(without, Layout::blocks(5, 2), 1000, rules);
    CHECK(a.invalid > 50);
    CHECK(b.invalid == 0);
    CHECK(a.count == b.count);
    CHECK(a.p50 == b.p50);
    CHECK(a.mean == b.mean);
    CHECK(a.p50_low == b.p50_low);
    CHECK(a.span_p50 == b.span_p50);
    CHECK(a.rank_time_p50 == b.rank_time_p50);
    CHECK(a.last_rank == b.last_rank);
    CHECK(a.last_rank_share == b.last_rank_share);
    CHECK(a.gbps_sustained == b.gbps_sustained);
}

TEST_CASE("traffic that is not uniform has the rates of its bytes, and the share of its bound") {
    const Layout layout = Layout::blocks(4, 2);
    const auto matrix = std::make_shared<TrafficMatrix>(
        parse_csv_matrix("0,0,0,0\n0,0,0,0\n1,0,0,0\n1,1,0,0\n")); // all from node 1 to node 0
    const Traffic traffic("a.csv", 0, matrix, layout, 1000);
    SummaryRules rules{.has_common_start = true,
                       .node_link_gbps = 10,
                       .rank_link_gbps = 10,
                       .loads = traffic.loads(),
                       .is_uniform = false};
    const Samples samples = ops_of(std::vector<Nanoseconds>(10, 19'200), 4, 3);
    const Summary summary = summarise(samples, layout, 1000, rules);
    CHECK(summary.bound == Approx(8 * 12000 / 10.0));
    CHECK(summary.bound_share == Approx(0.5));
    CHECK(summary.busiest == Busiest::node_sends);
    CHECK(summary.busiest_index == 1);
    CHECK(summary.imbalance == Approx(8000 / 3000.0));
    CHECK(summary.node_imbalance == Approx(2));
    CHECK(summary.largest_message == 4000);
    CHECK(summary.gbps.aggregate == Approx(8 * 12000 / 19200.0));
    CHECK(summary.gbps.rank == Approx(8 * 3000 / 19200.0));
    CHECK(summary.gbps.node_net_max == Approx(8 * 12000 / 19200.0));
    CHECK(summary.gbps.node_net_min == 0);
    CHECK(summary.gbps.bisection == Approx(8 * 12000 / 19200.0));
    CHECK(summary.gbps.msg_rate == Approx(3 / 19200.0 * 1e9));
    CHECK(is_absent(summary.gbps.compat));
    CHECK(is_absent(summary.gbps_sustained_compat));
    CHECK(summary.gbps_sustained == Approx(8 * 3000 / 19200.0));

    rules.node_link_gbps = rules.rank_link_gbps = 0; // unknown
    const Summary without = summarise(samples, layout, 1000, rules);
    CHECK(is_absent(without.bound));
    CHECK(is_absent(without.bound_share));
    CHECK(without.busiest == Busiest::rank_sends);
    CHECK(without.busiest_index == 3);
}

TEST_CASE("what goes one way is not told from a barrier: each rank counts from its own exit") {
    const Layout layout = Layout::blocks(4, 2);
    const auto rules_of = [&](const char* rows) {
        const auto matrix = std::make_shared<TrafficMatrix>(parse_csv_matrix(rows));
        return SummaryRules{.node_link_gbps = 10,
                            .rank_link_gbps = 10,
                            .loads = Traffic("a.csv", 0, matrix, layout, 1000).loads(),
                            .is_uniform = false};
    };
    const Samples samples = ops_of(std::vector<Nanoseconds>(10, 120), 4, 3); // 80 times as fast as the links
    SummaryRules incast = rules_of("0,0,0,0\n1,0,0,0\n1,0,0,0\n1,0,0,0\n");
    const Summary at_barrier = summarise(samples, layout, 1000, incast);
    CHECK(at_barrier.bound > 0); // what it asks for is known
    CHECK(is_absent(at_barrier.bound_share));
    CHECK(is_absent(at_barrier.gbps.rank));
    CHECK(is_absent(at_barrier.gbps.msg_rate));
    CHECK(is_absent(at_barrier.gbps_sustained));
    CHECK(is_absent(at_barrier.efficiency));
    CHECK(at_barrier.p50 == 120);
    CHECK(at_barrier.imbalance == Approx(4));
    incast.loads_in_turn = {incast.loads, incast.loads};
    CHECK(is_absent(summarise(samples, layout, 1000, incast).bound_share));
    CHECK(is_absent(summarise(samples, layout, 1000, incast).gbps.rank));
    incast.has_common_start = true;
    CHECK(summarise(samples, layout, 1000, incast).bound_share > 1);
    CHECK(summarise(samples, layout, 1000, incast).gbps.rank > 0);

    const SummaryRules ring = rules_of("0,1,0,0\n0,0,1,0\n0,0,0,1\n1,0,0,0\n");
    CHECK(summarise(samples, layout, 1000, ring).bound_share > 1); // what ranks begin apart cancels out
    CHECK(summarise(samples, layout, 1000, ring).gbps.rank > 0);
}

TEST_CASE(
    "ops that ask for different things in turn: means of the valid ones, and the median of what each reached") {
    const Layout layout = Layout::blocks(4, 2);
    SummaryRules rules{.has_common_start = true, .node_link_gbps = 10, .rank_link_gbps = 10, .is_uniform = false};
    for (const char* rows : {"0,0,0,0\n0,0,0,0\n1,0,0,0\n0,0,0,0\n", "0,0,1,0\n0,0,0,1\n0,0,0,0\n0,0,0,0\n",
                             "0,1,0,0\n0,0,0,0\n0,0,0,0\n0,0,0,0\n"}) { // the third stays on a node
        const auto matrix = std::make_shared<TrafficMatrix>(parse_csv_matrix(rows));
        rules.loads_in_turn.push_back(Traffic("a.csv", 0, matrix, layout, 1000).loads());
    }
    rules.loads = mean_of(rules.loads_in_turn);
    // 12000 B an op: 9600 ns between nodes. Attempts have the draws 0 1 2 0 1; the second one is not valid.
    Samples samples = ops_of({19'200, 9'600, 40'000, 12'800, 96'000}, 4, 3);
    samples.valid[1] = 0;
    const Summary summary = summarise(samples, layout, 1000, rules);
    REQUIRE(summary.count == 4);
    CHECK(summary.bound == Approx(9600));
    CHECK(summary.bound_share == Approx(0.5)); // of 0.1, 0.5 and 0.75; the op within a node has no bound
    CHECK(summary.busiest == Busiest::none);
    CHECK(summary.busiest_index == -1);
    CHECK(summary.imbalance == Approx((4 + 4 + 4 + 2) / 4.0));
    CHECK(summary.node_imbalance == Approx(2));
    CHECK(summary.largest_message == 12000);
    CHECK(summary.gbps.aggregate == Approx(8 * 12000 / 19200.0));
    CHECK(summary.gbps.msg_rate == Approx(1 / 19200.0 * 1e9));       // 12800, 19200, 40000, 48000 ns a message
    CHECK(summary.gbps.node_net_max == Approx(8 * 12000 / 19200.0)); // 1.07, 1.6, 8 ns a byte; nothing in one op
    CHECK(summary.gbps_sustained == Approx(8 * 12000 / 42000.0 / 4));

    // A network of 10 Gbit/s on which each op takes just what it asks for reaches that, whatever the ops ask for.
    rules.loads_in_turn[2] = rules.loads_in_turn[1];
    const TrafficBound first = bound_of(rules.loads_in_turn[0], 10, 10),
                       second = bound_of(rules.loads_in_turn[1], 10, 10);
    const auto as_bound = [&](const TrafficBound& bound) { return static_cast<Nanoseconds>(bound.ns); };
    const Samples perfect = ops_of({as_bound(first), as_bound(second), as_bound(second)}, 4, 3);
    const Summary ideal = summarise(perfect, layout, 1000, rules);
    CHECK(ideal.bound_share == Approx(1));
    CHECK(ideal.gbps.node_net_max == Approx(10));

    rules.node_link_gbps = rules.rank_link_gbps = 0; // unknown
    const Summary without = summarise(samples, layout, 1000, rules);
    CHECK(is_absent(without.bound));
    CHECK(is_absent(without.bound_share));
}
