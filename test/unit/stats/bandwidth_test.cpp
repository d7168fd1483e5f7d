// SPDX-License-Identifier: BSD-3-Clause
// Every rate against figures computed by hand, and against rows of the 2019 table.
#include "a2aperf/stats/bandwidth.hpp"

#include <cmath>
#include <numeric>

#include <doctest/doctest.h>

#include "a2aperf/base/random.hpp"

using namespace a2aperf;
using doctest::Approx;

TEST_CASE("4 ranks on 2 nodes, 1000 B in 10 us") {
    const Bandwidths gbps = bandwidths(Layout::blocks(4, 2), 1000, 10'000);
    CHECK(gbps.rank == Approx(2.4));     // 3 x 8000 bit
    CHECK(gbps.compat == Approx(3.2));   // 4 x 8000 bit
    CHECK(gbps.node_net == Approx(3.2)); // 2 ranks x 2 peers elsewhere x 8000 bit
    CHECK(gbps.node_net_min == Approx(3.2));
    CHECK(gbps.node_net_max == Approx(3.2));
    CHECK(gbps.node_total == Approx(4.8)); // 2 ranks
    CHECK(gbps.node_compat == Approx(6.4));
    CHECK(gbps.duplex == Approx(6.4));
    CHECK(gbps.aggregate == Approx(9.6));  // 4 ranks
    CHECK(gbps.bisection == Approx(3.2));  // 2 x 2 messages
    CHECK(gbps.msg_rate == Approx(1.2e6)); // 12 messages in 10 us
}

TEST_CASE("uneven nodes have a minimum, a mean and a maximum") {
    // 3, 3 and 1 ranks; 1 Gbit/s a message: 3 x 4, 3 x 4 and 1 x 6 messages leave the nodes.
    const Bandwidths gbps = bandwidths(Layout::blocks(7, 3), 125, 1000);
    CHECK(gbps.node_net_min == Approx(6));
    CHECK(gbps.node_net == Approx(10));
    CHECK(gbps.node_net_max == Approx(12));
    CHECK(gbps.duplex == Approx(20));
    CHECK(gbps.node_total == Approx(14)); // mean k = 7/3, 6 messages a rank
    CHECK(gbps.bisection == Approx(12));  // 3 x 4
}

TEST_CASE("with one node the net figures are absent, the others are there") {
    const Bandwidths gbps = bandwidths(Layout::blocks(4, 4), 1000, 10'000);
    for (const double absent : {gbps.node_net_min, gbps.node_net, gbps.node_net_max, gbps.duplex}) {
        CHECK(std::isnan(absent));
    }
    CHECK(gbps.rank == Approx(2.4));
    CHECK(gbps.node_total == Approx(9.6));
    CHECK(gbps.bisection == Approx(3.2));
}

TEST_CASE("the throughput column of the 2019 table") {
    struct Row {
        int ranks;
        Bytes size;
        double p50_us, gbps;
    };
    for (const Row& row :
         {Row{20, 1000, 67.51, 2.37}, Row{20, 60'000, 284.20, 33.78}, Row{40, 1000, 132.57, 2.41},
          Row{80, 14'000, 430.81, 20.80}, Row{160, 14'000, 1141.29, 15.70}, Row{320, 40'000, 7072.62, 14.48}}) {
        CAPTURE(row.ranks);
        CAPTURE(row.size);
        const double compat = bandwidths(Layout::blocks(row.ranks, 1), row.size, row.p50_us * 1e3).compat;
        CHECK(std::round(compat * 100) / 100 == Approx(row.gbps));
    }
}

TEST_CASE("the per-machine figure of its notes") {
    // "2 x 27.83", called 56 Gbit/s: 160 ranks, 2 a machine, 35 kB
    const Bandwidths gbps = bandwidths(Layout::blocks(160, 2), 35'000, 1'609'660);
    CHECK(std::round(gbps.compat * 100) == 2783);
    CHECK(std::round(gbps.node_compat) == 56);
    // "15.7*4 = 62.8Gbps for 14KB": 160 ranks, 4 a machine
    CHECK(bandwidths(Layout::blocks(160, 4), 14'000, 1'141'290).node_compat == Approx(62.8).epsilon(0.001));
}

TEST_CASE("what leaves all nodes is what all ranks send to other nodes") {
    Random random(9);
    for (int round = 0; round < 500; ++round) {
        const int ranks = 2 + static_cast<int>(random.below(100));
        const Layout layout =
            Layout::blocks(ranks, 1 + static_cast<int>(random.below(static_cast<unsigned>(ranks - 1))));
        const Bytes size = 1 + random.below(1'000'000);
        const double time = 1 + static_cast<double>(random.below(1'000'000'000));
        const Bandwidths gbps = bandwidths(layout, size, time);
        double remote_messages = 0;
        for (Rank a = 0; a < ranks; ++a) {
            for (Rank b = 0; b < ranks; ++b) remote_messages += layout.node_of(a) != layout.node_of(b) ? 1 : 0;
        }
        REQUIRE(gbps.node_net * layout.nodes() ==
                Approx(remote_messages * 8 * static_cast<double>(size) / time).epsilon(1e-9));
        REQUIRE(gbps.node_net_min <= gbps.node_net * (1 + 1e-12));
        REQUIRE(gbps.node_net <= gbps.node_net_max * (1 + 1e-12));
        REQUIRE(gbps.node_total * layout.nodes() == Approx(gbps.aggregate));
        REQUIRE(gbps.node_net <= gbps.node_total * (1 + 1e-12));
    }
}

TEST_CASE("no time, no rate") {
    for (const double time : {0.0, -1.0, kAbsent}) {
        const Bandwidths gbps = bandwidths(Layout::blocks(4, 2), 1000, time);
        CHECK(std::isnan(gbps.rank));
        CHECK(std::isnan(gbps.node_net));
        CHECK(std::isnan(gbps.msg_rate));
    }
}
