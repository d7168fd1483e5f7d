// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/plan/stream_pairs.hpp"

#include <doctest/doctest.h>

#include "a2aperf/base/error.hpp"

using namespace a2aperf;

using Pairs = std::vector<StreamPair>;

TEST_CASE("words say who sends to whom with any even number of ranks") {
    CHECK(StreamPairs::parse("halves").of(4) == Pairs{{0, 2}, {1, 3}});
    CHECK(StreamPairs::parse("neighbours").of(4) == Pairs{{0, 1}, {2, 3}});
    CHECK(StreamPairs::parse("halves").of(2) == StreamPairs::parse("neighbours").of(2));
    for (const char* word : {"halves", "neighbours"})
        CHECK_THROWS_WITH_AS(StreamPairs::parse(word).of(3),
                             doctest::Contains("needs an even number of ranks, and there are 3"), UsageError);
}

TEST_CASE("pairs may be listed; a rank sends and receives in as many as are named") {
    CHECK(StreamPairs::parse("0:1").of(2) == Pairs{{0, 1}});
    CHECK(StreamPairs::parse("2:0,0:2,3:1,0:1").of(5) == Pairs{{2, 0}, {0, 2}, {3, 1}, {0, 1}});
    CHECK(StreamPairs::parse("2:0,0:2").text() == "2:0,0:2");
    CHECK_THROWS_WITH_AS(StreamPairs::parse("0:1,0:2,0:1"), doctest::Contains("the pair 0:1 is there twice"),
                         UsageError);
    CHECK_THROWS_WITH_AS(StreamPairs::parse("3:3"), doctest::Contains("rank 3 can't send to itself"), UsageError);
    CHECK_THROWS_WITH_AS(StreamPairs::parse("0:1,2:7").of(4), "--pairs names rank 7, and there are 4 ranks: 0 to 3",
                         UsageError);
}

TEST_CASE("all ranks send to the first, or the first to all") {
    CHECK(StreamPairs::parse("all-to-one").of(4) == Pairs{{1, 0}, {2, 0}, {3, 0}});
    CHECK(StreamPairs::parse("one-to-all").of(3) == Pairs{{0, 1}, {0, 2}});
    CHECK(StreamPairs::parse("one-to-all").of(3, true) == Pairs{{0, 1}, {0, 2}, {1, 0}, {2, 0}});
}

TEST_CASE("what is no pair is told, with what there is") {
    for (const char* text : {"", "thirds", "0", "0:", ":1", "0:1,", ",0:1", "0:1:2", "-1:0", "0:1 ", "0x1:2",
                             "all-to-two", "99999999999:0"})
        CHECK_THROWS_WITH_AS(
            StreamPairs::parse(text),
            doctest::Contains(
                "expected halves, neighbours, all-to-one, one-to-all, loopback, or ranks as in 0:1,2:3"),
            UsageError);
}

TEST_CASE("in a loopback each rank sends to itself, however many there are") {
    CHECK(StreamPairs::parse("loopback").of(1) == Pairs{{0, 0}});
    CHECK(StreamPairs::parse("loopback").of(3) == Pairs{{0, 0}, {1, 1}, {2, 2}});
    CHECK(StreamPairs::parse("loopback").is_loopback());
    CHECK_FALSE(StreamPairs::parse("halves").is_loopback());
}

TEST_CASE("a duplex pair sends in both directions, once") {
    CHECK(StreamPairs::parse("halves").of(4, true) == Pairs{{0, 2}, {1, 3}, {2, 0}, {3, 1}});
    CHECK(StreamPairs::parse("1:2").of(3, true) == Pairs{{1, 2}, {2, 1}});
    CHECK_THROWS_WITH_AS(StreamPairs::parse("0:1,1:0").of(3, true),
                         doctest::Contains("the pair 1:0 is there twice"), UsageError);
}

TEST_CASE("where no rank is its own partner there is no loopback") {
    const auto parse = [](std::string_view text) { return StreamPairs::parse(text, Partners::others); };
    CHECK(parse("neighbours").of(2) == Pairs{{0, 1}});
    CHECK(parse("0:1,0:2,1:0").of(3) == Pairs{{0, 1}, {0, 2}, {1, 0}});
    CHECK_THROWS_WITH_AS(parse("1:1"), doctest::Contains("rank 1 can't be its own partner"), UsageError);
    CHECK_THROWS_WITH_AS(
        parse("loopback"),
        doctest::Contains("expected halves, neighbours, all-to-one, one-to-all, or ranks as in 0:1,2:3"),
        UsageError);
}

TEST_CASE("the first ranks to the last ones, in turn") {
    CHECK(StreamPairs::between(2, 2).of(4) == StreamPairs::parse("halves").of(4));
    CHECK(StreamPairs::between(3, 1).of(5) == Pairs{{0, 4}, {1, 4}, {2, 4}});
    CHECK(StreamPairs::between(1, 3).of(4) == Pairs{{0, 1}, {0, 2}, {0, 3}});
    CHECK(StreamPairs::between(3, 2).of(5) == Pairs{{0, 3}, {1, 4}, {2, 3}});
    CHECK(StreamPairs::between(2, 3).of(5) == Pairs{{0, 2}, {1, 3}, {0, 4}});
    CHECK(StreamPairs::between(-1, 1).of(3) == Pairs{{0, 2}, {1, 2}});
    CHECK(StreamPairs::between(1, -1).of(3) == Pairs{{0, 1}, {0, 2}});
    CHECK(StreamPairs::between(3, 2).text() == "clients 3 servers 2");
    CHECK(StreamPairs::between(-1, 2).text() == "servers 2");
    CHECK_THROWS_WITH_AS(StreamPairs::between(3, 2).of(4), "3 clients and 2 servers need 5 ranks, and there are 4",
                         UsageError);
    CHECK_THROWS_WITH_AS(StreamPairs::between(-1, 4).of(4), "1 client and 4 servers need 5 ranks, and there are 4",
                         UsageError);
    CHECK_THROWS_AS(StreamPairs::between(1 << 24, 1 << 24).of(4), UsageError);
}
