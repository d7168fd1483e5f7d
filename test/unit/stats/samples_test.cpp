// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/stats/samples.hpp"

#include <doctest/doctest.h>

using namespace a2aperf;

namespace {

// 3 attempts of 2 ranks, the second attempt invalid
const Samples kSamples{.ranks = 2,
                       .begin = {0, 5, 0, 900, 2, 0},
                       .send_done = {100, 80, 1, 1, 50, 200},
                       .recv_done = {90, 120, 2, 2, 70, 60},
                       .start = {1000, 2000, 3000},
                       .valid = {1, 0, 1}};

} // namespace

TEST_CASE("attempts and valid ops are counted apart") {
    CHECK(kSamples.attempts() == 3);
    CHECK(kSamples.valid_ops() == 2);
    CHECK(Samples{}.valid_ops() == 0);
}

TEST_CASE("a rank ends when its sends and its arrivals are done") {
    CHECK(kSamples.end_of(0, 0, CompleteAt::receiver) == 100);
    CHECK(kSamples.end_of(0, 1, CompleteAt::receiver) == 120);
    CHECK(kSamples.end_of(2, 0, CompleteAt::receiver) == 70);
}

TEST_CASE("a rank whose messages were fetched ends with its own reads") {
    Samples read = kSamples;
    read.send_done.assign(read.send_done.size(), kNoMoment);
    CHECK(read.end_of(0, 0, CompleteAt::receiver) == 90);
    CHECK(op_times(read, CompleteAt::receiver) == std::vector<Nanoseconds>{120, 70});
}

TEST_CASE("by the sender's rule it ends when its sends are done") {
    CHECK(kSamples.end_of(0, 1, CompleteAt::sender) == 80);
    CHECK(kSamples.end_of(2, 0, CompleteAt::sender) == 50);
}

TEST_CASE("an op takes as long as its slowest rank, in time order, invalid ops left out") {
    CHECK(op_times(kSamples, CompleteAt::receiver) == std::vector<Nanoseconds>{120, 200});
    CHECK(op_times(kSamples, CompleteAt::sender) == std::vector<Nanoseconds>{100, 200});
    CHECK(op_times(Samples{}, CompleteAt::receiver).empty());
}

TEST_CASE("in blocks of attempts an invalid op shifts no other") {
    CHECK(op_times_in_blocks(kSamples, CompleteAt::receiver, 1) ==
          std::vector<std::vector<Nanoseconds>>{{120}, {}, {200}});
    CHECK(op_times_in_blocks(kSamples, CompleteAt::receiver, 2) == std::vector<std::vector<Nanoseconds>>{{120}});
    CHECK(op_times_in_blocks(Samples{}, CompleteAt::receiver, 2).empty());
}

TEST_CASE("the words of the file") {
    CHECK(to_string(CompleteAt::receiver) == "receiver");
    CHECK(to_string(CompleteAt::sender) == "sender");
}
