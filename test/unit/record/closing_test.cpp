// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/record/closing.hpp"

#include <list>
#include <utility>

#include <doctest/doctest.h>

#include "launch.hpp"

using namespace a2aperf;

namespace {

// Rows whose figures the test sets; a quiet row that nothing is to be said about.
struct Table {
    Layout layout = Layout::blocks(4, 2);
    std::list<Point> points;
    std::list<PointResult> results;
    std::vector<Row> rows;

    PointResult& add(Bytes size, Role role = Role::measure) {
        Point& point = points.emplace_back();
        point.role = role;
        point.message_size = size;
        PointResult& result = results.emplace_back();
        result.late_limit_ns = 1000; // starts by the clock
        Summary& summary = result.summary;
        summary.count = 100;
        summary.min = 90e3;
        summary.mean = 101e3;
        summary.p50 = 100e3;
        summary.p90 = 110e3;
        summary.p99 = summary.max = 120e3;
        summary.p50_low = 99e3;
        summary.p50_high = 101e3;
        summary.gbps.rank = 10;
        summary.gbps.node_net = 20;
        summary.last_rank = 1;
        summary.last_rank_share = 0.3;
        rows.push_back({point, &result});
        return result;
    }
    void skip(Role role = Role::measure) {
        Point& point = points.emplace_back();
        point.role = role;
        rows.push_back({point, nullptr});
    }
    std::string oversubscription;
    std::size_t before = 0;
    bool yields = false;
    std::string words(NodeLinkRate link = {100, false}) const {
        std::string text;
        for (const std::string& line :
             closing_words(rows, layout, "/data/a.h5", link, oversubscription, before, yields))
            text += line + "\n";
        return text;
    }
};

} // namespace

TEST_CASE("what was measured, the best of it, and the file") {
    Table table;
    table.add(1000);
    table.add(60'000).summary.gbps.rank = 30;
    table.skip();
    CHECK(table.words() ==
          "2 points measured, 1 skipped: /data/a.h5\n"
          "best: 30.00 Gbit/s per rank at 60 kB (n = 100), 20.00 Gbit/s per node at 1 kB (n = 100)\n");
}

TEST_CASE("a point is one cell of the sweep: its sentinels and its baseline are not counted") {
    Table table;
    table.add(1000);
    for (const Role role : {Role::sentinel, Role::baseline}) table.add(1000, role);
    CHECK(table.words().starts_with("1 point measured: /data/a.h5\n"));
    for (const Role role : {Role::sentinel, Role::baseline}) table.add(1000, role).summary.count = 0;
    table.skip(Role::baseline);
    CHECK(table.words().starts_with("1 point measured: /data/a.h5\n"));
}

TEST_CASE("what an earlier launch measured is not this one's") {
    Table table;
    for (int i = 0; i < 3; ++i) table.add(1000);
    table.before = 2;
    CHECK(table.words().starts_with("1 point measured, 2 before: /data/a.h5\n"));
    table.before = 3;
    CHECK(table.words().starts_with("nothing was left to do, 3 points measured before: /data/a.h5\n"));
}

TEST_CASE("where a point has failed again something was left to do") {
    Table table;
    table.add(1000);
    table.add(2000).summary = Summary{};
    table.before = 1;
    CHECK(table.words().starts_with("0 points measured, 1 before, 1 failed (no op was valid): /data/a.h5\n"));
}

TEST_CASE("with one node there is no figure per node") {
    Table table;
    table.add(1000).summary.gbps.node_net = kAbsent;
    CHECK(table.words() == "1 point measured: /data/a.h5\nbest: 10.00 Gbit/s per rank at 1 kB (n = 100)\n");
}

TEST_CASE("nothing measured is said, and nothing else") {
    Table table;
    table.skip();
    CHECK(table.words() == "0 points measured, 1 skipped: /data/a.h5\n");
}

TEST_CASE("a point without a valid op has failed") {
    Table table;
    table.add(1000).summary = Summary{};
    CHECK(table.words() == "0 points measured, 1 failed (no op was valid): /data/a.h5\n");
}

TEST_CASE("what looks wrong is pointed out with its figures") {
    const auto after = [](auto change) {
        Table table;
        table.add(2000);
        change(table.add(1000));
        return table.words();
    };
    using test::contains;
    CHECK(contains(after([](PointResult& r) { r.summary.p90 = 2500e3; }),
                   "note: p90 above 3 x p50 at 1 of 2 points, most at 1 kB: 25.0 times"));
    CHECK(contains(after([](PointResult& r) { r.summary.mean = 165e3; }),
                   "note: mean above p90 at 1 of 2 points, most at 1 kB: 1.50 times"));
    CHECK(
        contains(after([](PointResult& r) { r.summary.gbps.node_net = 107; }),
                 "note: more than the 100 Gbit/s of a node's links at 1 of 2 points, most at 1 kB: 107.00 Gbit/s"));
    Table shaped;
    shaped.add(2000).summary.gbps.node_net = 0.1;
    shaped.add(1000).summary.gbps.node_net = 0.25;
    CHECK(contains(shaped.words({0.2, true}), "note: more than the 0.2 Gbit/s of a node's links, as stated "
                                              "(--link-rate), at 1 of 2 points"));
    // By the links of this launch only what it measured.
    shaped.rows[1].is_before = true;
    CHECK_FALSE(contains(shaped.words({0.2, true}), "links"));
    shaped.add(3000).summary.gbps.node_net = 0.3;
    CHECK(contains(shaped.words({0.2, false}), "note: of this launch's points more than the 0.2 Gbit/s of a node's "
                                               "links at 1 of 2 points, most at 3 kB"));
    CHECK(contains(after([](PointResult& r) { r.summary.invalid = 25; }),
                   "a rank was late) at 1 of 2 points, most at "
                   "1 kB: 20.0 %"));
    CHECK(contains(after([](PointResult& r) {
                       r.ranks.resize(4);
                       r.ranks[2].involuntary_switches = 250;
                   }),
                   "note: ranks were preempted during ops at 1 of 2 points, most at 1 kB: 2.5 times per op, all "
                   "ranks together"));
}

TEST_CASE("where ranks yield a context switch need not be a preemption") {
    Table table;
    table.yields = true;
    PointResult& result = table.add(1000);
    result.ranks.resize(4);
    result.ranks[2].involuntary_switches = 250;
    CHECK(test::contains(table.words(), "note: ranks yielded their core or were preempted during ops at 1 of 1 "
                                        "point, most at 1 kB: 2.5 times per op, all ranks together"));
}

TEST_CASE("a rank is called late only where chance is no explanation") {
    // 4 ranks, 5 points of 100 ops that count as 10. P(X >= 8) = 0.0004, times 4 ranks and 5 points: 0.8 %;
    // P(X >= 7) = 0.0035.
    const auto words_with = [](double share, std::int64_t late_limit = 1000, int points = 5) {
        Table table;
        for (int point = 0; point < points; ++point) {
            PointResult& result = table.add(1000);
            result.late_limit_ns = late_limit;
            result.summary.last_rank = 3;
            result.summary.last_rank_share = share;
        }
        return table.words();
    };
    CHECK_FALSE(test::contains(words_with(0.79), "finished last"));
    CHECK(test::contains(words_with(0.80),
                         "note: rank 3 finished last significantly more often than expected at 5 of 5 points"));
    CHECK(test::contains(words_with(1.0), "rank 3"));
    CHECK_FALSE(test::contains(words_with(1.0, -1), "finished last")); // a barrier start
    // That one of 4 is last at 4 points of 4 is 1.6 % of what chance does, where it stays so within a point.
    CHECK_FALSE(test::contains(words_with(1.0, 1000, 4), "finished last"));
}

TEST_CASE("where lateness lasts for a point, and it is another rank's in the next, nobody is called late") {
    Table table;
    for (const Rank rank : {3, 0, 2, 3, 1, 0, 3, 3}) {
        PointResult& result = table.add(1000);
        result.summary.last_rank = rank;
        result.summary.last_rank_share = 1;
    }
    CHECK_FALSE(test::contains(table.words(), "finished last"));
    for (int point = 0; point < 4; ++point) table.add(1000).summary.last_rank = 3; // 8 of 12: 4 x 0.3 %
    CHECK_FALSE(test::contains(table.words(), "finished last"));
    table.add(1000).summary.last_rank = 3; // 9 of 13: 4 x 0.1 %
    CHECK(test::contains(table.words(),
                         "rank 3 finished last significantly more often than expected at 4 of 13 points"));
}

TEST_CASE("where ranks share cores that is said first, and nobody is called late") {
    Table table;
    table.add(1000).summary.last_rank_share = 1.0;
    table.oversubscription = "oversubscribed: 4 ranks on 2 cores";
    CHECK(table.words().starts_with("oversubscribed: 4 ranks on 2 cores\n1 point measured"));
    CHECK_FALSE(test::contains(table.words(), "last"));
}

TEST_CASE("sentinels whose intervals don't meet are told, without a cause") {
    Table table;
    table.add(20'000, Role::sentinel);
    table.add(1000);
    Summary& last = table.add(20'000, Role::sentinel).summary;
    CHECK_FALSE(test::contains(table.words(), "sentinel"));
    last.p50 = 120e3;
    last.p50_low = 118e3;
    last.p50_high = 122e3;
    CHECK(test::contains(table.words(),
                         "note: the sentinel's median was 100.00 µs (99.00 to 101.00) when it was first "
                         "measured, 120.00 µs (118.00 to 122.00) when it was last: +20.0 %\n"));
    CHECK_FALSE(test::contains(table.words(), "drift"));
    last.p50 = last.p50_low = last.p50_high = 35; // in per cent it would be nothing left at all
    CHECK(test::contains(table.words(), "0.04 µs (0.04 to 0.04) when it was last: 0.00035 times\n"));
    last.p50_low = last.p50_high = kAbsent; // too few ops for an interval: no claim
    CHECK_FALSE(test::contains(table.words(), "sentinel"));
}

TEST_CASE("the ratio to the baseline is told with what its intervals carry") {
    Table table;
    for (const double ratio : {1.25, 0.8, 1.01, 1.1}) {
        Summary& summary = table.add(1000).summary;
        summary.ratio = ratio;
        if (ratio == 1.1) continue; // no interval
        summary.ratio_low = ratio - 0.05;
        summary.ratio_high = ratio + 0.05;
    }
    CHECK(test::contains(table.words(),
                         "note: against MPI_Alltoall: 0.80 to 1.25 times as fast, median 1.05 of 4 points; "
                         "1 faster; 1 slower; 1 undecided (1 lies within the interval, for 3 points together); 1 "
                         "with insufficient samples for an interval\n"));
}

TEST_CASE("a point is called faster than MPI only where all points together carry it") {
    const auto words_of = [](int points) {
        Table table;
        for (int point = 0; point < points; ++point) {
            Summary& summary = table.add(1000).summary;
            summary.ratio = point == 0 ? 1.06 : 1;
            summary.ratio_low = summary.ratio - 0.05; // of itself the first one leaves out 1
            summary.ratio_high = summary.ratio + 0.05;
        }
        return table.words();
    };
    CHECK(test::contains(words_of(1), "median 1.06 of 1 point; 1 faster\n"));
    CHECK(test::contains(words_of(2),
                         "of 2 points; 2 undecided (1 lies within the interval, for 2 points together)\n"));
    CHECK(test::contains(words_of(24), "; 24 undecided (1 lies within the interval, for 24 points together)\n"));
}

TEST_CASE("traffic that is not uniform is compared with the uniform one beside it, and nobody is last by it") {
    Table table;
    for (int point = 0; point < 5; ++point) table.add(1000);
    PointResult& result = table.add(1000);
    const auto matrix = std::make_shared<TrafficMatrix>(parse_csv_matrix("0,1,0,0\n1,0,0,0\n1,0,0,0\n1,0,0,0\n"));
    table.points.back().traffic = std::make_shared<Traffic>("a.csv", 0, matrix, table.layout, 1000);
    result.summary.imbalance = 3;
    result.summary.p50 = 400e3;
    result.summary.p90 = result.summary.p99 = result.summary.mean = result.summary.max = 410e3;
    result.summary.last_rank_share = 1; // rank 1, of all ops: it has most to do
    CHECK(table.words().find(
              "note: traffic a.csv: of what each rank moves in a second in the uniform traffic its busiest "
              "one moved 75.0 % by bytes, 25.0 % by messages\n") != std::string::npos);
    CHECK(table.words().find("finished last") == std::string::npos);
    result.summary.bound = 300e3; // by links: the table has it
    CHECK(table.words().find("traffic a.csv") == std::string::npos);
    table.points.back().traffic.reset();
    CHECK(table.words().find("rank 1 finished last") != std::string::npos);
}

TEST_CASE("of traffic that goes one way from a barrier nothing is said of what was reached") {
    Table table;
    table.add(1000);
    PointResult& result = table.add(1000);
    const auto matrix = std::make_shared<TrafficMatrix>(parse_csv_matrix("0,0,0,0\n1,0,0,0\n1,0,0,0\n1,0,0,0\n"));
    table.points.back().traffic = std::make_shared<Traffic>("incast", 0, matrix, table.layout, 1000);
    result.summary.imbalance = 4;
    result.summary.ratio = 1.5; // of an older program's file
    CHECK(test::contains(table.words(), "in the uniform traffic its busiest one moved"));
    CHECK(test::contains(table.words(), ": 1.50 to 1.50 times as fast"));
    result.late_limit_ns = -1; // a barrier start
    CHECK_FALSE(test::contains(table.words(), "against MPI"));
    result.summary.gbps.rank = result.summary.gbps.node_net = 12345;
    CHECK_FALSE(test::contains(table.words(), "12345"));
    for (const double bound : {kAbsent, 300e3}) {
        result.summary.bound = bound;
        CHECK_FALSE(test::contains(table.words(), "in the uniform traffic its busiest one moved"));
        CHECK(test::contains(table.words(),
                             "note: traffic incast: ops start at a barrier and messages go one way, so nothing is "
                             "said of what was reached (with --sync clock it is)\n"));
    }
}

TEST_CASE("another mode that was faster is told with the point where it was most") {
    Table table;
    const auto add = [&](Bytes size, const char* mode, double p50) {
        Summary& summary = table.add(size).summary;
        table.points.back().mode = mode;
        summary.p50 = p50;
        summary.p50_low = p50 * 0.99;
        summary.p50_high = p50 * 1.01;
        summary.mean = p50;
        summary.p90 = p50 * 1.1;
    };
    const auto told = [&] {
        return table.words().find("note: write-imm was faster than tagged") != std::string::npos;
    };
    add(1000, "tagged", 100e3);
    add(65536, "tagged", 200e3);
    add(1'000'000, "tagged", 900e3);
    add(1000, "write-imm", 120e3);
    add(65536, "write-imm", 100e3);
    CHECK(
        table.words().find("note: write-imm was faster than tagged at 1 of 2 points, most at 64 KiB: 2.00 times as "
                           "fast; slower at 1\n") != std::string::npos);
    table.results.back().summary.p50_high = 199e3; // meets the other's interval
    CHECK_FALSE(told());
    table.results.back().summary.p50_high = 101e3;
    table.results.back().summary.p50 = 190e3; // by less than a tenth
    CHECK_FALSE(told());
}

TEST_CASE("each traffic is held against itself") {
    Table table;
    const auto matrix = std::make_shared<TrafficMatrix>(parse_csv_matrix("0,1,0,0\n1,0,0,0\n1,0,0,0\n1,0,0,0\n"));
    const auto add = [&](const char* mode, bool is_uneven, double p50) {
        Summary& summary = table.add(1000).summary;
        Point& point = table.points.back();
        point.mode = mode;
        point.schedule = &find_schedule("shift");
        if (is_uneven) point.traffic = std::make_shared<Traffic>("a.csv", 0, matrix, table.layout, 1000);
        summary.p50 = summary.p50_low = summary.p50_high = p50;
    };
    add("tagged", false, 100e3);
    add("tagged", true, 300e3);
    add("write-imm", false, 100e3);
    add("write-imm", true, 150e3);
    CHECK(test::contains(table.words(), "note: write-imm was faster than tagged at 1 of 2 points, most at 1 kB of "
                                        "a.csv: 2.00 times as fast\n"));
}

TEST_CASE("several that were faster are told as several") {
    Table table;
    table.add(1000);
    table.add(1000).summary.p50_high = 50e3;
    for (Point& point : table.points) point.schedule = &find_schedule("shift");
    table.results.back().summary.p50 = 50e3;
    table.points.back().channels = 2;
    CHECK(test::contains(table.words(), "note: 2 endpoints were faster than 1 endpoint at 1 of 1 point"));
}

TEST_CASE("one queue of several endpoints is held against a queue each, and either against one endpoint") {
    Table table;
    const auto add = [&](int endpoints, Queues queues, double p50) {
        Summary& summary = table.add(1000).summary;
        Point& point = table.points.back();
        point.schedule = &find_schedule("shift");
        point.channels = endpoints;
        point.queues = queues;
        summary.p50 = summary.p50_low = summary.p50_high = p50;
    };
    add(1, Queues::each, 100e3);
    add(2, Queues::each, 100e3);
    add(2, Queues::one, 50e3);
    const std::string words = table.words();
    CHECK(
        test::contains(words, "note: one queue was faster than a queue each at 1 of 1 point, most at 1 kB: 2.00"));
    CHECK(test::contains(
        words, "note: 2 endpoints with one queue were faster than 1 endpoint at 1 of 1 point, most at 1 kB: 2.00"));
    CHECK_FALSE(test::contains(words, "2 endpoints were"));
}

TEST_CASE("what a thread each brings is not said of endpoints that have one") {
    Table table;
    const auto add = [&](int endpoints, Threads threads, double p50) {
        Summary& summary = table.add(1000).summary;
        Point& point = table.points.back();
        point.schedule = &find_schedule("shift");
        point.channels = endpoints;
        point.threads = threads;
        summary.p50 = summary.p50_low = summary.p50_high = p50;
    };
    add(1, Threads::one, 100e3);
    add(2, Threads::one, 100e3);
    add(2, Threads::each, 50e3);
    add(4, Threads::each, 25e3);
    const std::string words = table.words();
    CHECK_FALSE(test::contains(words, "2 endpoints were"));
    CHECK_FALSE(test::contains(words, "4 endpoints were"));
    const std::string with = " endpoints with a thread each were faster than 1 endpoint at 1 of 1 point";
    CHECK(test::contains(words, "note: 2" + with + ", most at 1 kB: 2.00"));
    CHECK(test::contains(words, "note: 4" + with + ", most at 1 kB: 4.00"));
    CHECK(test::contains(words, "note: a thread for each endpoint was faster than one thread at 1 of 1 point"));
}

TEST_CASE("a thread for each endpoint is held against one for all") {
    Table table;
    for (const Threads threads : {Threads::one, Threads::each}) {
        Summary& summary = table.add(1000).summary;
        Point& point = table.points.back();
        point.schedule = &find_schedule("shift");
        point.channels = 2;
        point.threads = threads;
        summary.p50 = summary.p50_low = summary.p50_high = threads == Threads::one ? 100e3 : 50e3;
    }
    CHECK(test::contains(table.words(), "note: a thread for each endpoint was faster than one thread at 1 of 1 "
                                        "point, most at 1 kB: 2.00"));
}

TEST_CASE("threads that have no core of their own are told where ranks do not share cores anyway") {
    const auto words_of = [](int pinned, bool is_before) {
        Table table;
        table.add(1000).pinned_threads = 0; // with one thread
        PointResult& result = table.add(8);
        result.pinned_threads = pinned;
        table.points.back().channels = 3;
        table.points.back().threads = Threads::each;
        table.rows.back().is_before = is_before;
        return table.words();
    };
    const std::string told =
        "note: not every thread of every rank got a core of its own at 1 of 1 point, most at 8 B: ";
    CHECK(test::contains(words_of(0, false), told + "3 threads of a rank without"));
    CHECK(test::contains(words_of(2, false), told + "1 thread of a rank without"));
    CHECK_FALSE(test::contains(words_of(3, false), "core of its own"));
    CHECK_FALSE(test::contains(words_of(0, true), "core of its own"));
}

TEST_CASE("so is any other setting, where all else is the same") {
    Table table;
    const auto add = [&](const char* schedule, int window, Bytes chunk, double p50) -> Summary& {
        Summary& summary = table.add(1000).summary;
        Point& point = table.points.back();
        point.mode = "tagged";
        point.schedule = &find_schedule(schedule);
        point.window = window;
        point.chunk = chunk;
        summary.p50 = p50;
        summary.p50_low = p50 * 0.99;
        summary.p50_high = p50 * 1.01;
        summary.mean = p50;
        summary.p90 = p50 * 1.1;
        return summary;
    };
    add("shift", 0, 0, 100e3);
    add("shift", 8, 0, 100e3);
    add("node-aware", 0, 0, 50e3);
    Summary& narrow = add("node-aware", 8, 0, 80e3);
    Summary& cut = add("shift", 0, 500, 40e3);
    const std::string words = table.words();
    CHECK(test::contains(
        words, "note: node-aware was faster than shift at 2 of 2 points, most at 1 kB: 2.00 times as fast\n"));
    CHECK(test::contains(
        words, "note: chunk 500B was faster than whole messages at 1 of 1 point, most at 1 kB: 2.50 times"));
    CHECK_FALSE(test::contains(words, "faster than window all"));
    cut.p50 = cut.p50_high = 99e3;
    narrow.p50 = narrow.p50_high = 40e3;
    narrow.p50_low = 39e3;
    CHECK(test::contains(
        table.words(),
        "note: window 8 was faster than window all at 1 of 2 points, most at 1 kB: 1.25 times as fast\n"));
    CHECK_FALSE(test::contains(table.words(), "chunk 500B was faster"));
}

TEST_CASE("what is kept of a result until the closing words grows with neither ops nor ranks") {
    PointResult result;
    Samples& samples = result.samples;
    samples.ranks = 1000;
    for (auto* column : {&samples.begin, &samples.send_done, &samples.recv_done, &samples.exit, &samples.arrival})
        column->assign(100'000, 1);
    samples.own["turned"].assign(100'000, 1);
    result.ranks.resize(1000);
    for (RankCounters& rank : result.ranks) rank.involuntary_switches = 2;
    result.nodes.resize(1000);
    result.told.resize(1000);
    result.summary.p50 = 5;
    const PointResult kept = kept_for_closing(std::move(result));
    for (const auto* column : {&kept.samples.begin, &kept.samples.send_done, &kept.samples.recv_done,
                               &kept.samples.exit, &kept.samples.arrival})
        CHECK(column->capacity() == 0);
    CHECK(kept.samples.own.empty());
    CHECK(kept.nodes.capacity() == 0);
    CHECK(kept.told.capacity() == 0);
    CHECK(kept.ranks.capacity() == 1);
    CHECK(kept.ranks.at(0).involuntary_switches == 2000); // of all together
    CHECK(kept.summary.p50 == 5);
}
