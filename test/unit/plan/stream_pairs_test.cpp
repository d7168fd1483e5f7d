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

TEST_CASE("where a rank has one partner, it sends in one pair and receives in one") {
    const auto parse = [](std::string_view text) { return StreamPairs::parse(text, Partners::one); };
    CHECK(parse("neighbours").of(2) == Pairs{{0, 1}});
    CHECK(parse("0:1,1:0").of(2) == Pairs{{0, 1}, {1, 0}});
    CHECK_THROWS_WITH_AS(parse("0:1,0:2"), doctest::Contains("rank 0 sends in two pairs"), UsageError);
    CHECK_THROWS_WITH_AS(parse("0:1,2:1"), doctest::Contains("rank 1 receives in two pairs"), UsageError);
    for (const char* word : {"all-to-one", "loopback"})
        CHECK_THROWS_WITH_AS(parse(word), doctest::Contains("expected halves, neighbours, or ranks as in 0:1,2:3"),
                             UsageError);
}
