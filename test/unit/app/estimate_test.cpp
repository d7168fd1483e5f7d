// SPDX-License-Identifier: BSD-3-Clause
#include "app/estimate.hpp"

#include <any>

#include <doctest/doctest.h>

#include "app/alltoall_options.hpp"
#include "app/stream_options.hpp"
#include "app/workload.hpp"

using namespace a2aperf;

namespace {

constexpr int kEstimatedRanks = 5;

std::optional<std::string> skip_none(const Point&) {
    return std::nullopt;
}

Options estimated(Bytes size, Bytes chunk) {
    Options options = default_options(alltoall().row());
    options.sizes = {size};
    options.with_sentinel = false;
    alltoall_options(options).chunks = {chunk};
    return options;
}

double estimated_seconds(const Options& options) {
    const Plan plan = alltoall().plan(options, Layout::blocks(kEstimatedRanks, kEstimatedRanks), skip_none);
    return static_cast<double>(estimated_time(plan, options, kEstimatedRanks)) * 1e-9;
}

Point cut_point(Bytes size, Bytes chunk) {
    Point point;
    point.message_size = size;
    point.chunk = chunk;
    return point;
}

} // namespace

TEST_CASE("an op costs a message for each chunk, and its bytes once") {
    const double bytes = 4 * 1e6 / kBytesPerSecond;
    CHECK(seconds_of_op(cut_point(1000000, 0), kEstimatedRanks) == doctest::Approx(4 * kSecondsPerMessage + bytes));
    CHECK(seconds_of_op(cut_point(1000000, 2000000), kEstimatedRanks) ==
          doctest::Approx(4 * kSecondsPerMessage + bytes));
    CHECK(seconds_of_op(cut_point(1000000, 1000), kEstimatedRanks) ==
          doctest::Approx(4000 * kSecondsPerMessage + bytes));
    CHECK(seconds_of_op(cut_point(1000000, 999), kEstimatedRanks) ==
          doctest::Approx(4 * 1002 * kSecondsPerMessage + bytes));
    CHECK(seconds_of_op(cut_point(1000000, 1), kEstimatedRanks) ==
          doctest::Approx(4e6 * kSecondsPerMessage + bytes));
}

TEST_CASE("endpoints share the messages of an op out and make them no more") {
    Point point = cut_point(64000, 1000);
    const double alone = seconds_of_op(point, kEstimatedRanks);
    point.channels = 4;
    CHECK(seconds_of_op(point, kEstimatedRanks) == alone);
}

TEST_CASE("uneven traffic takes what its busiest rank moves, and no more chunks than it has bytes for") {
    const Layout layout = Layout::blocks(kEstimatedRanks, kEstimatedRanks);
    Options options = estimated(1000, 0);
    alltoall_options(options).patterns = {TrafficPattern::parse("incast")};
    Point point = alltoall().plan(options, layout, skip_none).points.front();
    // All bytes of the op, 20 messages of 1000 B, come to rank 0.
    const double bytes = 20000 / kBytesPerSecond;
    CHECK(seconds_of_op(point, kEstimatedRanks) == doctest::Approx(4 * kSecondsPerMessage + bytes));
    point.chunk = 100;
    CHECK(seconds_of_op(point, kEstimatedRanks) == doctest::Approx(200 * kSecondsPerMessage + bytes));

    alltoall_options(options).patterns = {TrafficPattern::parse("shift=1")};
    point = alltoall().plan(options, layout, skip_none).points.front();
    point.chunk = 100; // one message of 4000 B: not four of them
    CHECK(seconds_of_op(point, kEstimatedRanks) ==
          doctest::Approx(44 * kSecondsPerMessage + 4000 / kBytesPerSecond));
}

TEST_CASE("the estimate of a launch has the verification of each draw, also beside a time budget") {
    const auto seconds = [](bool redraws, std::optional<Nanoseconds> budget) {
        Options options = estimated(1000000, 0);
        options.ops = 10;
        options.warmup = 5;
        options.time_budget = budget;
        alltoall_options(options).patterns = {TrafficPattern::parse("permutation")};
        alltoall_options(options).redraws = redraws;
        return estimated_seconds(options);
    };
    // Each rank sends all of its bytes to one other, in any draw.
    const double op = 4 * kSecondsPerMessage + 4e6 / kBytesPerSecond;
    CHECK(seconds(false, {}) == doctest::Approx(kSecondsBesideOps + 16 * op));
    CHECK(seconds(true, {}) == doctest::Approx(kSecondsBesideOps + (16 + 31) * op));
    CHECK(seconds(true, 1000) == doctest::Approx(kSecondsBesideOps + 31 * op).epsilon(0.001));
}

TEST_CASE("the estimate of a launch multiplies its ops by the chunks, and a baseline is not cut") {
    Options whole = estimated(100000, 0);
    Options cuts = estimated(100000, 10);
    const double made = whole.ops + whole.warmup + 1;
    const double more = made * 4 * 9999 * kSecondsPerMessage;
    CHECK(estimated_seconds(cuts) == doctest::Approx(estimated_seconds(whole) + more));
    const double alone = estimated_seconds(whole);
    whole.with_mpi_baseline = cuts.with_mpi_baseline = true;
    CHECK(estimated_seconds(whole) > alone);
    CHECK(estimated_seconds(cuts) == doctest::Approx(estimated_seconds(whole) + more));
}

TEST_CASE("a number of messages takes the pauses of its receiver, too, and a duration does not") {
    Options options = default_options(stream().row());
    options.sizes = {8};
    auto& asked = std::any_cast<StreamOptions&>(options.own);
    const auto seconds = [&](FreeDelay delay) {
        asked.free_delays = {delay};
        const Plan plan = stream().plan(options, Layout::blocks(2, 2), skip_none);
        return static_cast<double>(estimated_time(plan, options, 2)) * 1e-9;
    };
    asked.messages = 1000;
    CHECK(seconds({.time = 1'000'000'000, .every = 100}) - seconds({}) == doctest::Approx(10));
    CHECK(seconds({.time = 1'000'000'000, .every = 300}) - seconds({}) == doctest::Approx(3));
    CHECK(seconds({.time = 1'000'000'000, .every = 1001}) == doctest::Approx(seconds({})));
    options.time_budget = 2'000'000'000;
    CHECK(seconds({.time = 1'000'000'000, .every = 100}) < 3);
    options.time_budget.reset();
    asked.messages.reset();
    CHECK(seconds({.time = 1'000'000'000, .every = 100}) == doctest::Approx(seconds({})));
}

TEST_CASE("a round trip has two messages, and each that is fetched goes three ways") {
    Options options = default_options(echo().row());
    options.sizes = {1000};
    options.ops = 500;
    const auto seconds = [&](const char* mode) {
        options.modes = {mode};
        const Plan plan = echo().plan(options, Layout::blocks(2, 2), skip_none);
        return static_cast<double>(estimated_time(plan, options, 2)) * 1e-9;
    };
    for (const char* mode : {"msg", "write-imm", "write"})
        CHECK(seconds(mode) == doctest::Approx(seconds("tagged")));
    CHECK(seconds("read") - seconds("tagged") == doctest::Approx(500 * 4 * kSecondsPerMessage));
}

TEST_CASE("what rank 0 writes of a pair matrix takes its time, and is told") {
    const Options options = default_options(pairs().row());
    const auto plan_of = [&](int ranks) { return pairs().plan(options, Layout::blocks(ranks, ranks), skip_none); };
    const Plan small = plan_of(20);
    const Plan large = plan_of(1280);
    CHECK(pairs().seconds_of_writing(options, small, 20) > 0);
    // 512 points, each of 1280 cells, and 92 MB at the end.
    CHECK(pairs().seconds_of_writing(options, large, 1280) == doctest::Approx(40).epsilon(0.1));
    CHECK(static_cast<double>(estimated_time(large, options, 1280)) * 1e-9 > 40);
    const std::string room = pairs().own_room(large, options, Layout::blocks(1280, 32));
    CHECK(room.find("results file: rank 0 writes up to ") == 0);
    CHECK(room.find(" of it the pair matrix") != std::string::npos);
}
