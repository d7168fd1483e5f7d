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

TEST_CASE("pairs may be listed; a rank sends in one and receives in one") {
    CHECK(StreamPairs::parse("0:1").of(2) == Pairs{{0, 1}});
    CHECK(StreamPairs::parse("2:0,0:2,3:1").of(5) == Pairs{{2, 0}, {0, 2}, {3, 1}});
    CHECK(StreamPairs::parse("2:0,0:2").text() == "2:0,0:2");
    CHECK_THROWS_WITH_AS(StreamPairs::parse("0:1,0:2"), doctest::Contains("rank 0 sends in two pairs"), UsageError);
    CHECK_THROWS_WITH_AS(StreamPairs::parse("0:1,2:1"), doctest::Contains("rank 1 receives in two pairs"),
                         UsageError);
    CHECK_THROWS_WITH_AS(StreamPairs::parse("3:3"), doctest::Contains("rank 3 can't send to itself"), UsageError);
    CHECK_THROWS_WITH_AS(StreamPairs::parse("0:1,2:7").of(4), "--pairs names rank 7, and there are 4 ranks: 0 to 3",
                         UsageError);
}

TEST_CASE("what is no pair is told, with what there is") {
    for (const char* text : {"", "thirds", "0", "0:", ":1", "0:1,", ",0:1", "0:1:2", "-1:0", "0:1 ", "0x1:2",
                             "all-to-one", "loopback", "99999999999:0"})
        CHECK_THROWS_WITH_AS(StreamPairs::parse(text),
                             doctest::Contains("expected halves, neighbours, or ranks as in 0:1,2:3"), UsageError);
}
