// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/plan/traffic.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "a2aperf/base/error.hpp"
#include "a2aperf/plan/traffic_pattern.hpp"

using namespace a2aperf;

namespace {

Traffic traffic(const char* text, const Layout& layout, Bytes size) {
    return {text, 0, std::make_shared<TrafficMatrix>(TrafficPattern::parse(text).matrix(layout, 1)), layout, size};
}

Traffic of_csv(const char* text, const Layout& layout, Bytes size) {
    return {"a.csv", 0, std::make_shared<TrafficMatrix>(parse_csv_matrix(text)), layout, size};
}

} // namespace

TEST_CASE("the size is the mean of all ordered pairs") {
    const Layout layout = Layout::blocks(4, 4);
    const Traffic incast = traffic("incast", layout, 1000);
    CHECK(incast.bytes(1, 0) == 4000);
    CHECK(incast.bytes(0, 1) == 0);
    CHECK(incast.loads().bytes == 12000);
    CHECK(incast.loads().messages == 3);
    CHECK(incast.loads().largest == 4000);
    CHECK(traffic("sparse=100%", layout, 1001).bytes(2, 3) == 1001);
}

TEST_CASE("bytes are rounded to the nearest, and what has a share has a byte") {
    const Layout layout = Layout::blocks(3, 3);
    const Traffic small = of_csv("0,1,1000\n0,0,0\n0,0,0\n", layout, 1);
    CHECK(small.bytes(0, 1) == 1);
    CHECK(small.bytes(0, 2) == 6);
    const Traffic thirds = of_csv("0,1,2\n0,0,0\n0,0,0\n", layout, 100);
    CHECK(thirds.bytes(0, 1) == 200);
    CHECK(thirds.bytes(0, 2) == 400);
}

TEST_CASE("a matrix of equal entries has the loads of the uniform traffic") {
    for (const int per_node : {2, 3, 7}) {
        const Layout layout = Layout::blocks(7, per_node);
        const TrafficLoads plain = uniform_loads(layout, 1024);
        const TrafficLoads matrix = traffic("sparse=100%", layout, 1024).loads();
        CHECK(plain.bytes == matrix.bytes);
        CHECK(plain.across == matrix.across);
        CHECK(plain.messages == matrix.messages);
        CHECK(plain.largest == matrix.largest);
        CHECK(plain.rank.bytes == matrix.rank.bytes);
        CHECK(plain.rank_across.bytes == matrix.rank_across.bytes);
        CHECK(plain.node.bytes == matrix.node.bytes);
        CHECK(plain.node.who == matrix.node.who);
        CHECK(plain.node_least == matrix.node_least);
        CHECK(plain.node_most == matrix.node_most);
        CHECK(plain.halves == matrix.halves);
        CHECK(plain.rank_imbalance(layout) == doctest::Approx(1));
    }
    CHECK(std::isnan(uniform_loads(Layout::blocks(4, 4), 8).node_imbalance(Layout::blocks(4, 4))));
    CHECK(uniform_loads(Layout::blocks(4, 2), 8).node_imbalance(Layout::blocks(4, 2)) == doctest::Approx(1));
}

TEST_CASE("imbalance is the largest row or column over their mean") {
    const Layout layout = Layout::blocks(6, 2);
    const TrafficLoads incast = traffic("incast", layout, 1000).loads();
    CHECK(incast.rank_imbalance(layout) == doctest::Approx(6));
    CHECK(words_of(incast.rank) == "rank 0 receives");
    CHECK(incast.node_imbalance(layout) == doctest::Approx(3)); // all of it into one of three
    CHECK(words_of(incast.node) == "node 0 receives");
    const TrafficLoads outcast = traffic("outcast", layout, 1000).loads();
    CHECK(words_of(outcast.rank) == "rank 0 sends");
    CHECK(traffic("permutation", layout, 1000).loads().rank_imbalance(layout) == doctest::Approx(1));
}

TEST_CASE("the bound is what most is asked of, by the rate of what carries it") {
    const Layout layout = Layout::blocks(6, 2);
    const TrafficLoads incast = traffic("incast", layout, 1000).loads(); // 24000 B from other nodes to rank 0
    const TrafficBound by_node = bound_of(incast, 10, 10);
    CHECK(by_node.ns == doctest::Approx(19200));
    CHECK(words_of(by_node.by) == "node 0 receives");
    const TrafficBound by_rank = bound_of(incast, 10, 20); // two adapters, and a rank has one of them
    CHECK(by_rank.ns == doctest::Approx(19200));
    CHECK(words_of(by_rank.by) == "rank 0 receives");
    CHECK(bound_of(incast, 0, 20).ns == doctest::Approx(9600));
    CHECK(std::isnan(bound_of(incast, 0, 0).ns));
    CHECK(words_of(bound_of(incast, 0, 0).by).empty());
}

TEST_CASE("nothing that stays on a node has a bound by links") {
    const Layout pairs = Layout::blocks(4, 2);
    CHECK(std::isnan(bound_of(of_csv("0,1,0,0\n1,0,0,0\n0,0,0,1\n0,0,1,0\n", pairs, 1000).loads(), 10, 10).ns));
    CHECK(std::isnan(bound_of(uniform_loads(Layout::blocks(4, 4), 1000), 10, 10).ns));
    const TrafficLoads uniform = uniform_loads(pairs, 1000);
    CHECK(bound_of(uniform, 10, 10).ns == doctest::Approx(8 * 2 * 2 * 1000 / 10.0));
    CHECK(uniform.halves == 4000);
}

TEST_CASE("each message has a place of its own, where the peer looks for it") {
    const Layout layout = Layout::blocks(9, 3);
    for (const char* text : {"zipf=1.2", "sparse=40%", "hot-rank=3x", "incast"})
        for (const Bytes size : {Bytes{1}, Bytes{1001}}) {
            CAPTURE(text);
            const Traffic one = traffic(text, layout, size);
            std::vector<MessagePlaces> places;
            for (Rank rank = 0; rank < 9; ++rank) places.push_back(places_of(one, rank, ReceivePlaces::of_source));
            for (std::size_t from = 0; from < 9; ++from) {
                std::size_t end = kBeforeMessages;
                for (std::size_t to = 0; to < 9; ++to) {
                    CHECK(places[from].send[to] == one.bytes(static_cast<Rank>(from), static_cast<Rank>(to)));
                    CHECK(places[from].send[to] == places[to].receive[from]);
                    CHECK(places[from].target_offset[to] == places[to].receive_offset[from]);
                    CHECK(places[to].source_offset[from] == places[from].send_offset[to]);
                    CHECK(places[from].send_offset[to] >= end);
                    end = places[from].send_offset[to] + places[from].send[to];
                }
                CHECK(end <= one.loads().most_of_rank);
            }
        }
}

TEST_CASE("where any receive may take any message each has room for the largest") {
    const Layout layout = Layout::blocks(5, 5);
    const Traffic one = of_csv("0,9,1,0,0\n0,0,1,0,0\n0,2,0,0,0\n0,0,0,0,1\n1,1,1,1,0\n", layout, 1000);
    for (Rank rank = 0; rank < 5; ++rank) {
        const MessagePlaces places = places_of(one, rank, ReceivePlaces::of_any);
        Bytes largest = 0;
        for (Rank source = 0; source < 5; ++source) largest = std::max(largest, one.bytes(source, rank));
        std::size_t end = kBeforeMessages;
        for (std::size_t source = 0; source < 5; ++source) {
            const bool is_sent = one.bytes(static_cast<Rank>(source), rank) > 0;
            CHECK(places.receive[source] == (is_sent ? largest : 0));
            if (!is_sent) continue;
            CHECK(places.receive_offset[source] >= end);
            end = places.receive_offset[source] + largest;
        }
        CHECK(end <= one.loads().most_of_rank);
    }
}

TEST_CASE("bytes without a number are refused") {
    const Layout layout = Layout::blocks(4, 4);
    CHECK_THROWS_WITH_AS(traffic("incast", layout, Bytes{1} << 60U),
                         doctest::Contains("more than 9223372036854775807 B"), UsageError);
    CHECK(traffic("incast", layout, Bytes{1} << 59U).bytes(1, 0) == Bytes{1} << 61U);
}

TEST_CASE("traffic that is drawn anew has the matrices of all its draws, room for any, and their mean") {
    const Layout layout = Layout::blocks(6, 2);
    const auto draws = std::make_shared<TrafficDraws>(TrafficPattern::parse("sparse=40%"), layout, 9);
    const Traffic redrawn("sparse=40%/op", 3, draws, layout, 1000);
    CHECK(redrawn.draws() == 32);
    CHECK(redrawn.digest() == draws->digest());
    CHECK(redrawn.matrix().digest() == TrafficPattern::parse("sparse=40%").matrix(layout, 9).digest());
    REQUIRE(redrawn.loads_of_draws().size() == 32);
    double messages = 0;
    for (int op = 0; op < 32; ++op) {
        const Traffic one = redrawn.of_op(op, layout);
        CHECK(one.matrix().digest() == draws->matrix(op).digest());
        CHECK(one.name() == "sparse=40%/op");
        CHECK(one.loads().largest == redrawn.loads().largest);
        CHECK(one.loads().most_of_rank == redrawn.loads().most_of_rank);
        CHECK(redrawn.loads_of_draws()[static_cast<std::size_t>(op)].largest <= one.loads().largest);
        for (Rank rank = 0; rank < 6; ++rank) { // each rank has room for what it is sent in any op
            const MessagePlaces places = places_of(one, rank, ReceivePlaces::of_any);
            std::size_t end = 0;
            for (std::size_t peer = 0; peer < 6; ++peer)
                end = std::max(end, places.receive_offset[peer] + places.receive[peer]);
            CHECK(end <= one.loads().most_of_rank);
        }
        messages += one.loads().messages;
    }
    CHECK(redrawn.loads().messages == doctest::Approx(messages / 32));
    CHECK(redrawn.of_op(32, layout).matrix().digest() == redrawn.matrix().digest()); // they begin again
}

TEST_CASE("the mean of a hot rank that moves on is that of all") {
    const Layout layout = Layout::blocks(4, 2);
    const auto draws = std::make_shared<TrafficDraws>(TrafficPattern::parse("rotating-hot=3x"), layout, 1);
    const Traffic rotating("rotating-hot=3x/op", 0, draws, layout, 1000);
    CHECK(rotating.draws() == 4);
    // 12 messages of 1000 B, of 18 parts: 9 parts for the hot one.
    CHECK(rotating.loads().rank.bytes == doctest::Approx(6000));
    CHECK(rotating.loads().bytes == doctest::Approx(12000).epsilon(0.001));
    CHECK(rotating.most_messages() == 3);
}
