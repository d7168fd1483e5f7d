// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/plan/traffic_pattern.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <string>

#include "a2aperf/base/error.hpp"

using namespace a2aperf;

namespace {

TrafficMatrix made(const char* text, const Layout& layout, std::uint64_t seed = 1) {
    return TrafficPattern::parse(text).matrix(layout, seed);
}

std::vector<std::uint64_t> received(const TrafficMatrix& matrix, Rank from = -1) {
    std::vector<std::uint64_t> sums(static_cast<std::size_t>(matrix.ranks()));
    for (Rank source = 0; source < matrix.ranks(); ++source)
        for (Rank to = 0; to < matrix.ranks(); ++to)
            if (from < 0 || source == from) sums[static_cast<std::size_t>(to)] += matrix.weight(source, to);
    return sums;
}

int messages(const TrafficMatrix& matrix) {
    int count = 0;
    for (Rank from = 0; from < matrix.ranks(); ++from)
        for (Rank to = 0; to < matrix.ranks(); ++to) count += matrix.weight(from, to) > 0;
    return count;
}

} // namespace

TEST_CASE("every generator makes a matrix from its example: no rank sends to itself, the seed decides") {
    const Layout layout = Layout::blocks(12, 4);
    for (const TrafficGenerator& generator : traffic_generators()) {
        CAPTURE(generator.name);
        const TrafficPattern pattern = TrafficPattern::parse(generator.example);
        CHECK(pattern.name() == generator.example);
        CHECK(pattern.is_uniform() == (generator.name == "uniform"));
        if (pattern.is_uniform()) continue;
        const TrafficMatrix matrix = pattern.matrix(layout, 1);
        for (Rank rank = 0; rank < 12; ++rank) CHECK(matrix.weight(rank, rank) == 0);
        CHECK(matrix.total() > 0);
        CHECK(matrix.digest() == pattern.matrix(layout, 1).digest());
        std::set<std::uint64_t> digests;
        for (std::uint64_t seed = 1; seed <= 20; ++seed) digests.insert(pattern.matrix(layout, seed).digest());
        const bool is_drawn = std::set<std::string_view>{"zipf",        "hot-rank", "rotating-hot", "hot-node",
                                                         "permutation", "sparse",   "moe"}
                                  .contains(generator.name);
        CHECK((digests.size() > 1) == is_drawn);
        CHECK(pattern.is_drawn() == is_drawn);
        CHECK(pattern.moves() == (generator.name == "rotating-hot"));
    }
}

TEST_CASE("zipf: the k-th of all ranks is sent k^-s") {
    const TrafficMatrix matrix = made("zipf=2", Layout::blocks(5, 5));
    std::vector<std::uint64_t> sums = received(matrix);
    std::sort(sums.rbegin(), sums.rend());
    for (std::size_t k = 1; k < sums.size(); ++k)
        CHECK(static_cast<double>(sums[k]) / static_cast<double>(sums[0]) ==
              doctest::Approx(1 / static_cast<double>((k + 1) * (k + 1))));
}

TEST_CASE("a hot rank is sent so many times as much, a hot node each of its ranks") {
    std::vector<std::uint64_t> sums = received(made("hot-rank=3x", Layout::blocks(6, 6)));
    std::sort(sums.begin(), sums.end());
    CHECK(sums[5] == 3 * sums[4]);
    CHECK(sums[4] == sums[0]);

    const Layout layout = Layout::blocks(6, 2);
    sums = received(made("hot-node=4x", layout));
    const auto hot = static_cast<Rank>(std::max_element(sums.begin(), sums.end()) - sums.begin());
    for (Rank rank = 0; rank < 6; ++rank)
        CHECK(sums[static_cast<std::size_t>(rank)] * (layout.node_of(rank) == layout.node_of(hot) ? 1 : 4) ==
              sums[static_cast<std::size_t>(hot)]);
    CHECK_THROWS_WITH_AS(made("hot-node=4x", Layout::blocks(4, 4)), doctest::Contains("at least 2 nodes"),
                         UsageError);
}

TEST_CASE("one message a rank: a permutation, and a shift") {
    for (const int ranks : {2, 3, 7}) {
        const Layout layout = Layout::blocks(ranks, ranks);
        for (const char* text : {"permutation", "shift=1"}) {
            const TrafficMatrix matrix = made(text, layout);
            CHECK(messages(matrix) == ranks);
            for (const std::uint64_t sum : received(matrix)) CHECK(sum == 1);
        }
        for (Rank rank = 0; rank < ranks; ++rank)
            CHECK(made("shift=1", layout).weight(rank, (rank + 1) % ranks) == 1);
    }
    CHECK(made("shift=2", Layout::blocks(5, 5)).weight(4, 1) == 1);
    CHECK_THROWS_WITH_AS(made("shift=4", Layout::blocks(4, 4)),
                         doctest::Contains("4 ranks have the distances 1 to 3, not 4"), UsageError);
    CHECK_THROWS_WITH_AS(made("shift=2", Layout::blocks(2, 2)),
                         doctest::Contains("2 ranks have the distance 1, not 2"), UsageError);
}

TEST_CASE("neighbours are a ring, and may be everybody") {
    const TrafficMatrix ring = made("neighbours=1", Layout::blocks(5, 5));
    CHECK(messages(ring) == 10);
    CHECK(ring.weight(0, 4) == 1);
    CHECK(messages(made("neighbours=2", Layout::blocks(5, 5))) == 20);
    CHECK(messages(made("neighbours=2", Layout::blocks(4, 4))) == 12);
    CHECK(messages(made("neighbours=1", Layout::blocks(2, 2))) == 2);
    CHECK_THROWS_WITH_AS(made("neighbours=3", Layout::blocks(5, 5)), doctest::Contains("at most 2 neighbours"),
                         UsageError);
    CHECK_THROWS_WITH_AS(made("neighbours=2", Layout::blocks(3, 3)), doctest::Contains("at most 1 neighbour to"),
                         UsageError);
}

TEST_CASE("sparse: about the share of the pairs that was asked for, and all of 100 %") {
    const Layout layout = Layout::blocks(100, 10);
    CHECK(std::abs(messages(made("sparse=10%", layout)) - 990) < 5 * std::sqrt(9900 * 0.1 * 0.9));
    CHECK(messages(made("sparse=100%", layout)) == 9900);
    CHECK_THROWS_WITH_AS(
        made("sparse=0.0001%", Layout::blocks(2, 2)),
        doctest::Contains("nothing is sent: no rank has a byte for another one, in any of 1000 draws"), UsageError);
}

TEST_CASE("a draw in which nothing is sent is drawn again, the same for the same seed and number") {
    const auto require_all = [](const char* text, const Layout& layout) {
        CAPTURE(text);
        const TrafficPattern pattern = TrafficPattern::parse(text);
        std::set<std::uint64_t> digests;
        for (std::uint64_t seed = 1; seed <= 20; ++seed)
            for (int op = 0; op < 32; ++op) {
                const TrafficMatrix matrix = pattern.matrix(layout, seed, op);
                CHECK(matrix.total() > 0);
                CHECK(matrix.digest() == pattern.matrix(layout, seed, op).digest());
                digests.insert(matrix.digest());
            }
        return digests.size();
    };
    CHECK(require_all("sparse=10%", Layout::blocks(2, 2)) == 3); // one way, the other, both
    for (int ranks = 3; ranks <= 7; ++ranks) require_all("sparse=10%", Layout::blocks(ranks, ranks));
    require_all("moe(experts=2,top=1,tokens=1)", Layout::blocks(2, 2));
    // Its only copy is that of rank 0, for itself, however often it is drawn.
    CHECK_THROWS_WITH_AS(made("moe(experts=1,top=1,capacity=0.01,tokens=10)", Layout::blocks(4, 4)),
                         doctest::Contains("in any of 1000 draws"), UsageError);
}

TEST_CASE("all to one, one to all, half to half") {
    const Layout layout = Layout::blocks(6, 2);
    CHECK(received(made("incast", layout)) == std::vector<std::uint64_t>{5, 0, 0, 0, 0, 0});
    CHECK(received(made("outcast", layout), 0) == std::vector<std::uint64_t>{0, 1, 1, 1, 1, 1});
    CHECK(messages(made("outcast", layout)) == 5);
    // 3 nodes: the first one is the lower half.
    CHECK(received(made("bisection", layout), 0) == std::vector<std::uint64_t>{0, 0, 1, 1, 1, 1});
    CHECK(received(made("bisection", layout), 3) == std::vector<std::uint64_t>{1, 1, 0, 0, 0, 0});
    CHECK(received(made("bisection", Layout::blocks(4, 4)), 0) == std::vector<std::uint64_t>{0, 0, 1, 1});
}

TEST_CASE("a file is the matrix, for as many ranks as it has rows") {
    const TrafficPattern pattern = TrafficPattern::parse_file("/data/app.csv", "0,1\n0,0\n");
    CHECK(pattern.name() == "app.csv");
    CHECK(pattern.matrix(Layout::blocks(2, 2), 1).weight(0, 1) == 1);
    CHECK_THROWS_WITH_AS(pattern.matrix(Layout::blocks(3, 3), 1),
                         "--traffic 'app.csv': a matrix of 2 x 2, and there are 3 ranks", UsageError);
    CHECK_THROWS_WITH_AS(TrafficPattern::parse_file("none.csv", "5,0\n0,5\n").matrix(Layout::blocks(2, 2), 1),
                         "--traffic 'none.csv': nothing is sent: no rank has a byte for another one", UsageError);
    CHECK_THROWS_WITH_AS(TrafficPattern::parse_file("a/bad.mtx", "x"), doctest::Contains("'bad.mtx': line 1:"),
                         UsageError);
}

TEST_CASE("a matrix has its limit") {
    CHECK_THROWS_WITH_AS(
        made("incast", Layout::blocks(1025, 1)),
        "--traffic 'incast': 1025 ranks, and every rank has the whole matrix, generated or of a file, "
        "which has room for 1024; uniform traffic needs none",
        UsageError);
}

TEST_CASE("the largest weights of the largest matrix add up to less than 2^63") {
    const TrafficMatrix matrix = made("hot-node=1000x", Layout::blocks(1024, 512));
    double total = 0;
    for (const std::uint64_t sum : received(matrix)) total += static_cast<double>(sum);
    CHECK(total < std::pow(2.0, 63));
    CHECK(static_cast<double>(matrix.total()) == doctest::Approx(total));
}

TEST_CASE("what is no traffic is told, with what there is") {
    const auto refuses = [](const char* text, const std::string& why) {
        CAPTURE(text);
        CHECK_THROWS_WITH_AS(TrafficPattern::parse(text), doctest::Contains(why.c_str()), UsageError);
    };
    refuses("", "unknown traffic");
    refuses("zipff=1", "did you mean zipf?");
    refuses("hot", "a file .mtx or .csv");
    refuses("zipf", "'zipf': a value is missing, as in zipf=1.2");
    refuses("incast(3)", "'incast(3)': it takes no value, as in incast");
    refuses("zipf(1.2)", "'zipf(1.2)': its value stands behind =, as in zipf=1.2");
    const std::string moe = ", as in moe(experts=64,top=8,capacity=1.25,tokens=1024)";
    refuses("moe=8", "'moe=8': its values stand in parentheses" + moe);
    refuses("moe(experts=8", "'moe(experts=8': its values stand in parentheses" + moe);
    refuses("moe(experts=0)", "'moe(experts=0)': experts is a whole number from 1 to 65536" + moe);
    refuses("moe(top=2.5)", "'moe(top=2.5)': top is a whole number from 1 to 1024" + moe);
    refuses("moe(capacity=0)", "'moe(capacity=0)': capacity is a number from 0.01 to 1000" + moe);
    refuses("moe(tokens=)", "'moe(tokens=)': tokens is a whole number from 1 to 1000000" + moe);
    refuses("moe(experts=4,top=5)", "'moe(experts=4,top=5)': a token can't go to 5 of 4 experts" + moe);
    refuses("moe(experts=8,)", "'moe(experts=8,)': an item within the parentheses is empty" + moe);
    refuses("moe(,top=1)", "'moe(,top=1)': an item within the parentheses is empty" + moe);
    refuses("moe(,)", "an item within the parentheses is empty" + moe);
    refuses("moe(capacity)", "'moe(capacity)': the value of capacity is missing" + moe);
    refuses("moe(top=1,top=2)", "'moe(top=1,top=2)': top is given twice" + moe);
    refuses("moe(8)", "'moe(8)': '8' is none of its values: expected one of experts, top, capacity, tokens" + moe);
    refuses("incast=3", "'incast=3': it takes no value, as in incast");
    for (const char* text :
         {"zipf=", "zipf=0", "zipf=x", "zipf=-1", "zipf=1.2 ", "zipf=inf", "zipf=nan", "zipf=11"})
        refuses(text, "expected a number from 0.01 to 10, as in zipf=1.2");
    for (const char* text : {"hot-rank=3", "hot-rank=x", "hot-rank=0.5x", "hot-rank=1e9x"})
        refuses(text, "expected a number from 1x to 1000x, as in hot-rank=3x");
    for (const char* text : {"shift=0", "shift=1.5", "shift=-1"})
        refuses(text, "expected a whole number from 1 to");
    for (const char* text : {"sparse=10", "sparse=0%", "sparse=101%"}) refuses(text, "to 100%, as in sparse=10%");
}

TEST_CASE("moe: what is not given is as usual, and the name has all of it") {
    CHECK(TrafficPattern::parse("moe").name() == "moe(experts=64,top=8,capacity=1.25,tokens=1024)");
    CHECK(TrafficPattern::parse("moe()").name() == TrafficPattern::parse("moe").name());
    CHECK(TrafficPattern::parse("moe(tokens=16,experts=8,top=2)").name() ==
          "moe(experts=8,top=2,capacity=1.25,tokens=16)");
    const Layout layout = Layout::blocks(4, 4);
    const TrafficMatrix even = made("moe(experts=4,top=4,tokens=10)", layout); // every token to every expert
    for (Rank from = 0; from < 4; ++from)
        for (Rank to = 0; to < 4; ++to) CHECK(even.weight(from, to) == (from == to ? 0 : 10));
    // Where capacity is ample each rank sends what its tokens are copied, but for what stays.
    const TrafficMatrix ample = made("moe(experts=8,top=2,capacity=100,tokens=100)", layout);
    for (Rank from = 0; from < 4; ++from) {
        std::uint64_t sent = 0;
        for (Rank to = 0; to < 4; ++to) sent += ample.weight(from, to);
        CHECK(sent < 200);
        CHECK(sent > 100);
    }
    CHECK_THROWS_AS(made("moe(experts=1024,top=1024,tokens=1000000)", layout), UsageError);
}

TEST_CASE("rotating-hot: each rank is hot in turn, and then they begin again") {
    const Layout layout = Layout::blocks(5, 5);
    const TrafficPattern pattern = TrafficPattern::parse("rotating-hot=4x");
    CHECK(pattern.draws(5) == 5);
    const auto hot_of = [&](int op) {
        const auto sums = received(pattern.matrix(layout, 7, op));
        const auto most = std::max_element(sums.begin(), sums.end());
        const auto least = std::min_element(sums.begin(), sums.end());
        CHECK(*most == 4 * *least);
        CHECK(std::count(sums.begin(), sums.end(), *least) == 4);
        return static_cast<int>(most - sums.begin());
    };
    const int first = hot_of(0);
    for (int op = 0; op < 12; ++op) CHECK(hot_of(op) == (first + op) % 5);
}

TEST_CASE("what is drawn for an op follows from the seed and its number, the first as for a launch") {
    const Layout layout = Layout::blocks(8, 4);
    for (const char* text : {"zipf=1.2", "hot-rank=3x", "permutation", "sparse=30%", "moe(experts=8,top=2)"}) {
        CAPTURE(text);
        const TrafficPattern pattern = TrafficPattern::parse(text);
        CHECK(pattern.draws(8) == 32);
        CHECK(pattern.matrix(layout, 3).digest() == pattern.matrix(layout, 3, 0).digest());
        std::set<std::uint64_t> digests;
        for (int op = 0; op < 32; ++op) {
            CHECK(pattern.matrix(layout, 3, op).digest() == pattern.matrix(layout, 3, op).digest());
            digests.insert(pattern.matrix(layout, 3, op).digest());
        }
        CHECK(digests.size() > 5); // of a hot rank there are 8
        CHECK(pattern.matrix(layout, 3, 5).digest() != pattern.matrix(layout, 4, 5).digest());
    }
    CHECK(TrafficPattern::parse("zipf=1").draws(1024) == 4);
    CHECK(TrafficPattern::parse("rotating-hot=2x").draws(320) == 40);
}
