// SPDX-License-Identifier: BSD-3-Clause
// Ops of which only the moments matter: what one rank does at one of them, and when, is the test's.
#include "a2aperf/measure/op_loop.hpp"

#include <algorithm>
#include <csignal>
#include <functional>

#include "a2aperf/base/clock.hpp"
#include "a2aperf/job/stop_signal.hpp"
#include "test/mpi/shared_number.hpp"

using namespace a2aperf;
using test::job;
using test::SharedNumber;

namespace {

constexpr Nanoseconds kTimeout = 600'000'000'000;

struct TestEngine final : Engine {
    void prepare(std::uint64_t op) override {
        ops.push_back(op);
        prepared.push_back(now_ns());
        on_prepare();
    }
    bool progress() override {
        on_progress();
        return true;
    }
    Moments run() override {
        begun.push_back(now_ns());
        const Moments moments = on_run();
        ended.push_back(now_ns());
        return moments;
    }
    std::span<const Nanoseconds> arrival_times() const override { return arrivals; }

    std::vector<std::uint64_t> ops;
    std::vector<Nanoseconds> prepared, begun, ended, arrivals;
    std::function<void()> on_prepare = [] {}, on_progress = [] {};
    std::function<Moments()> on_run = [] { return Moments{now_ns(), now_ns()}; };
};

struct Loop {
    explicit Loop(Start start) { ops.set_start(start); }

    CommonClock clock; // all ranks are on one machine
    Deadline deadline{Polling::yield, kTimeout};
    OpLoop ops{job(), clock, deadline};
};

constexpr Start kStarts[] = {Start::barrier, Start::clock};

Nanoseconds largest(const std::vector<Nanoseconds>& of_ranks) {
    return *std::max_element(of_ranks.begin(), of_ranks.end());
}
Nanoseconds smallest(const std::vector<Nanoseconds>& of_ranks) {
    return *std::min_element(of_ranks.begin(), of_ranks.end());
}

} // namespace

TEST_CASE("ops have numbers of their own, the same on all ranks, whoever asks for one between them") {
    for (const Start start : kStarts) {
        Loop loop(start);
        TestEngine engine;
        OwnSamples samples;
        CHECK(loop.ops.run(engine, 3, samples) == 3);
        CHECK(loop.ops.next_op() == 4);
        CHECK(loop.ops.run(engine, 2, samples) == 2);
        CHECK(engine.ops == std::vector<std::uint64_t>{1, 2, 3, 5, 6});
        CHECK(samples.size() == 5);
        CHECK(loop.ops.stop_signal() == 0);
        CHECK(loop.ops.run(engine, 0, samples) == 0);
        CHECK(samples.size() == 5);
    }
}

TEST_CASE("an op begins when all ranks have prepared it, and the next one when all have ended it") {
    constexpr int kOps = 20;
    for (const Start start : kStarts) {
        Loop loop(start);
        TestEngine engine;
        OwnSamples samples;
        loop.ops.run(engine, kOps, samples);
        Nanoseconds last_end = 0;
        for (std::size_t op = 0; op < kOps; ++op) {
            const Nanoseconds begun = smallest(job().all_gather(engine.begun[op]));
            CHECK(begun >= largest(job().all_gather(engine.prepared[op])));
            CHECK(begun >= last_end);
            last_end = largest(job().all_gather(engine.ended[op]));
        }
    }
}

TEST_CASE("with a clock all ranks have one start, before which none begins; with a barrier each has its own") {
    constexpr int kOps = 20;
    for (const Start start : kStarts) {
        Loop loop(start);
        TestEngine engine;
        OwnSamples samples;
        loop.ops.run(engine, kOps, samples);
        for (std::size_t op = 0; op < kOps; ++op) {
            CHECK(samples.start[op] + samples.begin[op] <= engine.begun[op]);
            CHECK(samples.start[op] + samples.begin[op] >= engine.prepared[op]);
            if (start == Start::clock) {
                CHECK(samples.begin[op] >= 0);
                const auto starts = job().all_gather(samples.start[op]);
                CHECK(smallest(starts) == largest(starts));
            } else {
                CHECK(samples.begin[op] == 0);
            }
        }
    }
}

TEST_CASE("a rank that is held up begins late, says so, and is not waited for") {
    Loop loop(Start::clock);
    SharedNumber waits;
    SharedNumber begins;
    TestEngine engine;
    // Rank 1 has entered the agreement before the others, and leaves it when they have begun.
    const bool is_late = job().rank() == 1;
    bool has_waited = false;
    if (is_late)
        engine.on_progress = [&] {
            if (has_waited) return;
            has_waited = true;
            waits.add();
            begins.await(job().ranks() - 1);
        };
    else {
        engine.on_prepare = [&] { waits.await(1); };
        engine.on_run = [&] {
            begins.add();
            return Moments{now_ns(), now_ns()};
        };
    }
    OwnSamples samples;
    CHECK(loop.ops.run(engine, 1, samples) == 1);
    const auto begins_of_ranks = job().all_gather(samples.begin[0]);
    const auto starts = job().all_gather(samples.start[0]);
    CHECK(smallest(starts) == largest(starts));
    CHECK(largest(begins_of_ranks) == begins_of_ranks[1]);
    for (std::size_t rank = 0; rank < begins_of_ranks.size(); ++rank)
        CHECK((rank == 1 || begins_of_ranks[rank] < begins_of_ranks[1]));
}

TEST_CASE(
    "what came before a rank's own start is seen right after it; what never came, and what nothing tells, stays") {
    for (const Start start : kStarts) {
        Loop loop(start);
        TestEngine engine;
        engine.arrivals.assign(static_cast<std::size_t>(job().ranks()), -1);
        Nanoseconds sent = 0;
        // Rank 1's message was here while this rank waited for the others; rank 0's comes in the op.
        engine.on_run = [&] {
            engine.arrivals[1] = engine.prepared.back();
            engine.arrivals[0] = now_ns();
            sent = now_ns();
            return Moments{job().rank() == 0 ? kNoMoment : sent, engine.prepared.back()};
        };
        OwnSamples samples;
        loop.ops.run(engine, 1, samples);
        CHECK(samples.receive_done[0] == samples.begin[0] + 1);
        if (job().rank() == 0)
            CHECK(samples.send_done[0] == kNoMoment);
        else
            CHECK(samples.start[0] + samples.send_done[0] == sent);
        REQUIRE(samples.arrival.size() == static_cast<std::size_t>(job().ranks()));
        CHECK(samples.arrival[1] == samples.begin[0] + 1);
        CHECK(samples.start[0] + samples.arrival[0] == engine.arrivals[0]);
        for (std::size_t rank = 2; rank < samples.arrival.size(); ++rank) CHECK(samples.arrival[rank] == -1);
    }
}

TEST_CASE("without a common start a rank goes on while another one is in the op before, and all end together") {
    Loop loop(Start::none);
    SharedNumber seconds;
    TestEngine engine;
    engine.on_run = [&] {
        if (job().rank() == 0 && engine.ops.size() == 2) seconds.add();
        if (job().rank() == 1 && engine.ops.size() == 1) seconds.await(1);
        return Moments{now_ns(), now_ns()};
    };
    OwnSamples samples;
    CHECK(loop.ops.run(engine, 3, samples) == 3);
    CHECK(engine.ops == std::vector<std::uint64_t>{1, 2, 3});
    CHECK(job().all_gather(engine.begun[1])[0] < job().all_gather(engine.ended[0])[1]);
    CHECK(smallest(job().all_gather(engine.begun[0])) >= largest(job().all_gather(engine.prepared[0])));
    for (std::size_t op = 0; op < samples.size(); ++op) {
        CHECK(samples.begin[op] == 0);
        CHECK(samples.start[op] >= engine.prepared[op]);
        CHECK(samples.start[op] <= engine.begun[op]);
    }
}

// The last one: the signal stays.
TEST_CASE("a signal to one rank ends the ops of all after the same one") {
    StopSignal::install();
    Loop loop(Start::barrier);
    TestEngine engine;
    engine.on_run = [&] {
        if (job().rank() == job().ranks() - 1 && engine.ops.size() == 3) raise(SIGTERM);
        return Moments{now_ns(), now_ns()};
    };
    test::expect_a_signal();
    OwnSamples samples;
    CHECK(loop.ops.run(engine, 10, samples) == 3);
    CHECK(loop.ops.stop_signal() == SIGTERM);
    CHECK(samples.size() == 3);
    CHECK(engine.begun.size() == 3);
    CHECK(engine.ops.back() == 4); // its receives are posted, and nobody sends
}
