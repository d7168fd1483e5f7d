// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/measure/duration_loop.hpp"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <numeric>

#include "a2aperf/job/stop_signal.hpp"
#include "a2aperf/transfer/msg.hpp"
#include "a2aperf/transfer/tagged.hpp"
#include "test/mpi/rig.hpp"
#include "test/mpi/shared_number.hpp"
#include "test/mpi/stopped.hpp"
#include "test/mpi/stream_engine.hpp"

using namespace a2aperf;
using test::job;
using test::kMessage;
using test::kNobody;
using test::Rig;
using test::SharedNumber;
using test::StreamEngine;
using test::StreamPeers;

namespace {

constexpr int kWindow = 8;

// Every rank sends to the next one.
StreamPeers ring() {
    return {(job().rank() + 1) % job().ranks(), (job().rank() + job().ranks() - 1) % job().ranks()};
}

// Each of the lower half sends to one of the upper; an odd one has nothing to do.
StreamPeers halves() {
    const int half = job().ranks() / 2;
    const Rank rank = job().rank();
    if (rank < half) return {rank + half, kNobody};
    return {kNobody, rank < 2 * half ? rank - half : kNobody};
}

struct Loop {
    CommonClock clock; // all ranks are on one machine
    Deadline deadline{Polling::yield, job().timeout()};
    DurationLoop durations{job(), clock, deadline};

    // From here on, for what will not come; until then ranks may be late.
    void be_impatient() { deadline = Deadline(Polling::yield, 1'000'000'000); }
};

std::uint64_t sum(std::span<const std::uint64_t> column) {
    return std::accumulate(column.begin(), column.end(), std::uint64_t{0});
}

template <class Mode>
std::uint64_t total_of(const StreamEngine<Mode>& engine, std::string_view name) {
    const auto& names = StreamEngine<Mode>::kCounters;
    return engine.counters()[static_cast<std::size_t>(std::ranges::find(names, name) - names.begin())];
}

// Everything that was started has come, once and whole, and each tick's share of it is in the columns.
template <class Mode>
void check_totals(const StreamEngine<Mode>& engine, const TickSamples& samples, StreamPeers peers) {
    for (const std::string_view name : StreamEngine<Mode>::kCounters)
        CHECK(sum(samples.column(name)) == total_of(engine, name));
    CHECK(total_of(engine, "messages_sent") == total_of(engine, "started"));
    const auto started = job().all_gather(total_of(engine, "started"));
    const std::uint64_t due = peers.from == kNobody ? 0 : started[static_cast<std::size_t>(peers.from)];
    CHECK(total_of(engine, "messages_received") == due);
    CHECK(total_of(engine, "bytes_received") == due * kMessage);
    std::uint64_t numbers = 0;
    for (std::uint64_t number = 0; number < due; ++number) numbers += mix64(number);
    CHECK(engine.received_numbers == numbers);
}

void check_moments(const TickSamples& samples, const Duration& duration) {
    REQUIRE(samples.size() == duration.ticks() + 1);
    CHECK(std::ranges::is_sorted(samples.moments()));
    for (std::size_t tick = 0; tick < duration.ticks(); ++tick)
        CHECK(samples.moments()[tick] >= duration.end_of(tick));
}

template <class Mode>
void stream(const char* mode, StreamPeers peers, const Duration& duration) {
    Rig rig({mode}, kWindow);
    Loop loop;
    StreamEngine<Mode> engine(job(), rig.channel, peers, kMessage, kWindow);
    TickSamples samples(engine.kCounters);
    const Nanoseconds before = now_ns();
    const Nanoseconds start = loop.durations.run(engine, duration, samples);
    CHECK(loop.durations.stop_signal() == 0);
    CHECK(start >= before);
    const auto starts = job().all_gather(start);
    CHECK(std::ranges::count(starts, start) == job().ranks());
    check_moments(samples, duration);
    check_totals(engine, samples, peers);
    CHECK(samples.column("started").back() == 0); // what comes after the end was started before
    if (peers.to == kNobody) CHECK(total_of(engine, "started") == 0);
}

} // namespace

TEST_CASE("a duration's ticks end at multiples of the tick, and the last with the duration") {
    const Duration duration{.length = 95, .tick = 10};
    CHECK(duration.ticks() == 10);
    CHECK(duration.end_of(0) == 10);
    CHECK(duration.end_of(9) == 95);
    CHECK(duration.ticks_before(-1) == 0);
    CHECK(duration.ticks_before(9) == 0);
    CHECK(duration.ticks_before(10) == 1);
    CHECK(duration.ticks_before(94) == 9);
    CHECK(duration.ticks_before(95) == 10);
    CHECK(duration.ticks_before(1000) == 10);
    CHECK(Duration{.length = 100, .tick = 10}.ticks() == 10);
    CHECK(Duration{}.ticks() == 100);
}

TEST_CASE("streams run for a duration: ticks add up to what was sent and came, each with its moment") {
    constexpr Duration kShort{.length = 205'000'000, .tick = 10'000'000};
    stream<Tagged>("tagged", ring(), kShort);
    stream<Tagged>("tagged", halves(), kShort);
    stream<Msg>("msg", ring(), kShort);
}

TEST_CASE("a number of messages ends it before the duration does") {
    Rig rig({"tagged"}, kWindow);
    Loop loop;
    StreamEngine<Tagged> engine(job(), rig.channel, ring(), kMessage, kWindow);
    engine.most = 100;
    constexpr Duration kLong{.length = 3'600'000'000'000, .tick = 100'000'000};
    TickSamples samples(engine.kCounters);
    loop.durations.run(engine, kLong, samples);
    check_totals(engine, samples, ring());
    CHECK(total_of(engine, "messages_received") == 100);
    CHECK(samples.size() <= kLong.ticks());
}

TEST_CASE("nobody waits for a rank that is held up; the ticks that it missed are taken when it goes on") {
    Rig rig({"tagged"}, kWindow);
    Loop loop;
    SharedNumber have_ended;
    StreamEngine<Tagged> engine(job(), rig.channel, ring(), kMessage, kWindow);
    constexpr Duration kDuration{.length = 100'000'000, .tick = 10'000'000};
    TickSamples samples(engine.kCounters);
    bool has_begun = false;
    bool has_ended = false;
    const bool is_held_up = job().rank() == 1;
    engine.on_advance = [&] {
        if (is_held_up && !has_begun) have_ended.await(job().ranks() - 1);
        has_begun = true;
    };
    engine.on_progress = [&] { // before the start too
        if (has_begun && !has_ended && !is_held_up) have_ended.add();
        has_ended = has_begun;
    };
    loop.durations.run(engine, kDuration, samples);
    check_moments(samples, kDuration);
    check_totals(engine, samples, ring());
    if (!is_held_up) return;
    for (std::size_t tick = 0; tick < kDuration.ticks(); ++tick) {
        CHECK(samples.moments()[tick] == samples.moments()[0]);
        CHECK((tick == 0 || samples.column("started")[tick] == 0));
    }
    CHECK(samples.moments()[0] >= kDuration.length);
}

TEST_CASE("a rank that is stopped is named by those that wait for it at the end, and can go on") {
    Rig rig({"tagged"}, kWindow);
    const Rank asleep = job().ranks() - 1;
    const bool sleeps = job().rank() == asleep;
    Loop loop;
    SharedNumber have_told;
    const auto processes = job().all_gather(static_cast<std::int64_t>(getpid()));
    StreamEngine<Tagged> engine(job(), rig.channel, ring(), kMessage, kWindow);
    bool has_slept = false;
    engine.on_advance = [&] {
        if (has_slept) return;
        has_slept = sleeps;
        if (sleeps)
            raise(SIGSTOP);
        else
            loop.be_impatient();
    };
    TickSamples samples(engine.kCounters);
    std::string words;
    try {
        loop.durations.run(engine, {.length = 500'000'000, .tick = 10'000'000}, samples);
    } catch (const RunError& error) {
        words = error.what();
    }
    if (sleeps) {
        CHECK(has_slept);
        CHECK(words == "");
        check_totals(engine, samples, ring());
        return;
    }
    CHECK(words.starts_with("after 500 ms: it waited "));
    CHECK(words.find("; nothing was heard of ") < words.find(job().who(asleep)));
    have_told.add();
    if (job().is_root()) {
        have_told.await(job().ranks() - 1);
        test::wake_stopped(static_cast<pid_t>(processes[static_cast<std::size_t>(asleep)]));
    }
    // The rest of the run, which it is now ready for.
    while (!job().is_agreed()) engine.progress();
    engine.expect(job().all_to_all(engine.started()));
    while (!engine.is_drained()) engine.progress();
    samples.end(0, engine.counters());
    job().enter({});
    while (!job().is_agreed()) engine.progress();
    check_totals(engine, samples, ring());
}

TEST_CASE("a rank that stops when its part is done is named by the one that hears its heartbeats, and can go on") {
    Rig rig({"tagged"}, kWindow);
    const Rank asleep = job().ranks() - 1;
    const bool sleeps = job().rank() == asleep;
    const bool hears_it = job().rank() == 0;
    Loop loop;
    constexpr Nanoseconds kShort = 4'000'000'000;
    // It hears one that has all the time, and its heartbeats are as frequent as the other needs them.
    if (hears_it) loop.deadline = Deadline(Polling::yield, kShort);
    if (sleeps) loop.deadline = Deadline(Polling::yield, 2 * kShort);
    SharedNumber are_done, is_awake;
    const auto processes = job().all_gather(static_cast<std::int64_t>(getpid()));
    struct Sleeper : StreamEngine<Tagged> {
        using StreamEngine<Tagged>::StreamEngine;
        bool may_end = true;
        bool is_over() const { return may_end && has_all(); }
        bool has_all() const { return StreamEngine<Tagged>::is_over(); }
    };
    Sleeper engine(job(), rig.channel, ring(), kMessage, kWindow);
    engine.most = 100;
    engine.may_end = !sleeps;
    bool is_done = false;
    engine.on_progress = [&] { // before the start too
        if (is_done || sleeps || !engine.is_over()) return;
        is_done = true;
        are_done.add();
    };
    engine.on_advance = [&] {
        if (engine.may_end || !engine.has_all()) return;
        while (!are_done.is_at_least(job().ranks() - 1)) engine.progress();
        raise(SIGSTOP);
        is_awake.add();
        engine.may_end = true;
    };
    TickSamples samples(engine.kCounters);
    std::string words;
    try {
        constexpr Duration kOpen{.length = 3'600'000'000'000, .tick = 10'000'000, .ends_by_number = true};
        loop.durations.run(engine, kOpen, samples);
    } catch (const RunError& error) {
        words = error.what();
    }
    if (!hears_it) {
        CHECK(words == "");
        check_totals(engine, samples, ring());
        return;
    }
    CHECK(words.starts_with("in the duration nothing was heard of " + job().who(asleep) + " for "));
    CHECK(words.ends_with("; " + job().who(0) + " waits for its end"));
    test::wake_stopped(static_cast<pid_t>(processes[static_cast<std::size_t>(asleep)]));
    while (!is_awake.is_at_least(1)) engine.progress();
    // The rest of the run, which it is now ready for.
    while (!job().is_agreed()) engine.progress();
    engine.expect(job().all_to_all(engine.started()));
    while (!engine.is_drained()) engine.progress();
    samples.end(0, engine.counters());
    job().enter({});
    while (!job().is_agreed()) engine.progress();
    check_totals(engine, samples, ring());
}

TEST_CASE("what never comes is told with the rank that waits, and the one it waits for") {
    Rig rig({"tagged"}, kWindow);
    Loop loop;
    const StreamPeers peers = ring();
    // Rank 0 tells of a message that it has not sent.
    struct Liar : StreamEngine<Tagged> {
        using StreamEngine<Tagged>::StreamEngine;
        std::vector<std::int64_t> told;
        Loop* loop = nullptr;
        void expect(std::span<const std::int64_t> due) {
            StreamEngine<Tagged>::expect(due);
            loop->be_impatient();
        }
        std::span<const std::int64_t> started() {
            told.assign(StreamEngine<Tagged>::started().begin(), StreamEngine<Tagged>::started().end());
            if (job().rank() == 0) ++told[1];
            return told;
        }
        std::span<const std::int64_t> started() const { return const_cast<Liar*>(this)->started(); }
    };
    Liar engine(job(), rig.channel, peers, kMessage, kWindow);
    engine.loop = &loop;
    TickSamples samples(engine.kCounters);
    std::string words;
    try {
        loop.durations.run(engine, {.length = 50'000'000, .tick = 10'000'000}, samples);
    } catch (const RunError& error) {
        words = error.what();
    }
    if (job().rank() == 1) {
        CHECK(words.starts_with("after the duration nothing happened for "));
        CHECK(words.ends_with(job().who(1) + " waits for 1 messages from rank 0 and 0 sends to rank " +
                              std::to_string(peers.to)));
        job().enter({}); // the others are there
    }
    while (!job().is_agreed()) engine.progress();
}

// The last one: the signal stays.
TEST_CASE("a signal, which launchers send to all ranks, ends it within a tick") {
    StopSignal::install();
    Rig rig({"tagged"}, kWindow);
    Loop loop;
    SharedNumber have_received;
    SharedNumber have_left;
    const auto processes = job().all_gather(static_cast<std::int64_t>(getpid()));
    StreamEngine<Tagged> engine(job(), rig.channel, ring(), kMessage, kWindow);
    constexpr Duration kLong{.length = 3'600'000'000'000, .tick = 10'000'000};
    TickSamples samples(engine.kCounters);
    bool has_received = false;
    bool has_told = false;
    std::size_t ticks_before = 0; // this rank saw the signal
    bool is_at_end = false;       // it has entered the agreement
    engine.on_progress = [&] { is_at_end = true; };
    engine.on_advance = [&] {
        is_at_end = false;
        if (StopSignal::number() == 0) ticks_before = samples.size();
        if (!has_received && total_of(engine, "messages_received") >= 50) {
            has_received = true;
            have_received.add();
        }
        if (!job().is_root() || has_told || !have_received.is_at_least(job().ranks())) return;
        has_told = true;
        for (const std::int64_t process : processes) kill(static_cast<pid_t>(process), SIGTERM);
    };
    test::expect_a_signal();
    int signal = 0;
    try {
        loop.durations.run(engine, kLong, samples);
        signal = loop.durations.stop_signal();
    } catch (const Interrupted& interrupted) { // the agreement, or the way to it, took more than 0.3 s
        signal = interrupted.signal_number();
        if (!is_at_end) job().enter({}); // the others wait for it
        while (!job().is_agreed()) sched_yield();
    }
    CHECK(signal == SIGTERM);
    CHECK((samples.size() > ticks_before || !is_at_end));
    CHECK(samples.size() < kLong.ticks());
    // Nobody closes what others may still read.
    have_left.add();
    have_left.await(job().ranks());
}
