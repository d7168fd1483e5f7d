// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/stats/pair_times.hpp"

#include <cmath>

#include <doctest/doctest.h>

using namespace a2aperf;

namespace {

// Rank r begins at 10 r in attempt a and has its message 1000 + 100 a + r later than it began.
Samples three_ranks(int attempts) {
    Samples samples;
    samples.ranks = 3;
    for (int a = 0; a < attempts; ++a) {
        for (int r = 0; r < 3; ++r) {
            samples.begin.push_back(10 * r);
            samples.send_done.push_back(500);
            samples.recv_done.push_back(1000 + 100 * a + 11 * r);
        }
        samples.start.push_back(a);
        samples.valid.push_back(1);
    }
    return samples;
}

} // namespace

TEST_CASE("a transfer takes from the source's begin to the destination's arrival") {
    const Samples samples = three_ranks(3);
    CHECK(transfer_time(samples, 0, 2, 0) == 1000 - 20);
    CHECK(transfer_time(samples, 2, 0, 1) == 1211);
}

TEST_CASE("a message that its destination fetches takes from the begin of that") {
    Samples samples = three_ranks(3);
    samples.send_done.assign(samples.send_done.size(), kNoMoment);
    CHECK(transfer_time(samples, 0, 2, 0) == 1000);
    CHECK(transfer_time(samples, 2, 0, 1) == 1211 - 10);
    samples.exit = {0, 0, 0, 0, 0, 0, 7, 70, 0};
    CHECK(transfer_time(samples, 2, 0, 1) == 1211 - 10);
}

TEST_CASE("every rank to the one at the distance, over the valid ops") {
    Samples samples = three_ranks(5);
    samples.valid[0] = 0;
    const auto pairs = pair_times(samples, 2, PercentileRule::rank, 0);
    REQUIRE(pairs.size() == 3);
    for (Rank source = 0; source < 3; ++source) {
        const PairTime& pair = pairs[static_cast<std::size_t>(source)];
        CAPTURE(source);
        CHECK(pair.source == source);
        CHECK(pair.destination == (source + 2) % 3);
        CHECK(pair.ops == 4);
        CHECK(pair.min == 1100 + 11 * pair.destination - 10 * source);
        CHECK(pair.p50 == pair.min + 100); // the second of four
    }
    CHECK(pair_times(samples, 2, PercentileRule::index, 0)[0].p50 == pairs[0].p50 + 100);
}

TEST_CASE("without a valid op there is no figure") {
    Samples samples = three_ranks(2);
    samples.valid = {0, 0};
    const PairTime pair = pair_times(samples, 1, PercentileRule::rank, 0).front();
    CHECK(pair.ops == 0);
    CHECK(std::isnan(pair.p50));
    CHECK(std::isnan(pair.min));
}

TEST_CASE("a rate needs a time") {
    CHECK(pair_gbps(125, 1000) == 1);
    CHECK(std::isnan(pair_gbps(125, 0)));
    CHECK(std::isnan(pair_gbps(125, -5)));
    CHECK(std::isnan(pair_gbps(125, kAbsent)));
}

TEST_CASE("with a barrier start both ends are put on the common clock") {
    Samples samples = three_ranks(1);
    samples.begin = {0, 0, 0};
    samples.recv_done = {700, 1, 800}; // rank 1 had the message of rank 0 before it left the barrier
    samples.exit = {0, 5000, -200};
    CHECK(transfer_time(samples, 0, 0, 1) == 5001);
    CHECK(transfer_time(samples, 0, 2, 0) == 900);
}

TEST_CASE("a time that is not above what the clocks err is no figure") {
    const auto pairs = pair_times(three_ranks(1), 1, PercentileRule::rank, 990);
    CHECK(pairs[2].ops == 1);
    CHECK(std::isnan(pairs[2].p50)); // 980 from rank 2 to rank 0
    CHECK(std::isnan(pairs[2].min));
    CHECK(pairs[0].p50 == 1011);
    CHECK(std::isnan(told_by_clock(0, 0)));
    CHECK(told_by_clock(1, 0) == 1);
}

TEST_CASE("times of a pair by itself are those of all attempts") {
    Samples samples = three_ranks(3);
    samples.valid = {0, 1, 0};
    const std::vector<Nanoseconds> times = transfer_times(samples, 2, 0);
    REQUIRE(times.size() == 3);
    for (int attempt = 0; attempt < 3; ++attempt)
        CHECK(times[static_cast<std::size_t>(attempt)] == transfer_time(samples, attempt, 2, 0));
}

TEST_CASE("of a step in which each rank sends one message, rates count that one") {
    const Samples samples = three_ranks(1);
    const Summary step = summarise_step(samples, Layout::blocks(3, 1), 1000, {});
    const Summary whole = summarise(samples, Layout::blocks(3, 1), 1000, {});
    CHECK(step.p50 == whole.p50);
    CHECK(step.gbps.rank == doctest::Approx(8 * 1000 / step.p50));
    CHECK(step.gbps.rank == doctest::Approx(whole.gbps.rank / 2)); // which counts two messages
    CHECK(step.gbps.aggregate == doctest::Approx(3 * step.gbps.rank));
    CHECK(step.gbps.msg_rate == doctest::Approx(3e9 / step.p50));
    CHECK(step.gbps_sustained == doctest::Approx(8 * 1000 / step.mean));
    CHECK(std::isnan(step.gbps.node_net));
    CHECK(std::isnan(step.gbps.compat));
    Samples invalid = samples;
    invalid.valid = {0};
    CHECK(std::isnan(summarise_step(invalid, Layout::blocks(3, 1), 1000, {}).gbps.msg_rate));
}
