// SPDX-License-Identifier: BSD-3-Clause
// One duration: agree, start together, let an engine run and look at what it counts tick by tick, end together.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <span>

#include <fmt/format.h>

#include "a2aperf/base/clock.hpp"
#include "a2aperf/measure/agreement.hpp"
#include "a2aperf/measure/duration_engine.hpp"
#include "a2aperf/measure/heartbeat.hpp"
#include "a2aperf/measure/tick_samples.hpp"

namespace a2aperf {

struct Duration {
    Nanoseconds length = 1'000'000'000;
    Nanoseconds tick = 10'000'000;
    std::size_t most_samples = std::numeric_limits<std::size_t>::max(); // rows of a rank, with the one for its end
    bool ends_by_number = false; // the engine is over long before; nobody knows when
    bool may_starve = false;     // that nothing moves is a result: ranks listen for one another instead
    Nanoseconds look = std::numeric_limits<Nanoseconds>::max(); // for signals and for others, within long ticks
    bool traces = false; // a sample is taken whenever something was counted, and none at the end of a tick

    std::size_t ticks() const { return static_cast<std::size_t>((length + tick - 1) / tick); }
    Nanoseconds end_of(std::size_t tick_number) const;  // as an offset from the start
    std::size_t ticks_before(Nanoseconds offset) const; // that have ended by then
    std::size_t samples() const { return traces ? most_samples : std::min(ticks() + 1, most_samples); }
};

// Of a duration, on each rank: receives are posted and ranks are about to agree on the start; they have; its part
// of what is measured is over; all messages of all ranks have come.
enum class Stage { ready, start, end, drained };
using Witness = std::function<void(Stage)>;

class DurationLoop {
public:
    DurationLoop(Job& job, const CommonClock& clock, Deadline& deadline)
        : job_(job), clock_(clock), deadline_(deadline), agreement_(job, clock, deadline) {}

    // Runs the engine from an agreed start on the common clock for the duration, or until it is over or this rank
    // was told to stop, and then until all that was started is done. Every tick that has ended is a row of samples;
    // one more has what came after, and as its moment that of the last thing that happened. A rank that was held up
    // takes the rows that it missed when it goes on: the first of them has what was counted, and all have the
    // moment at which they were taken. Rows for which there is no room are counted.
    //
    // Gives the start. Collective. Throws RunError that says who waits for whom. When a rank was told to stop,
    // stop_signal() tells on all, and what was under way is not waited for.
    template <DurationEngine Engine>
    Nanoseconds run(
        Engine& engine, const Duration& duration, TickSamples& samples, const Witness& witness = [](Stage) {});

    // From a start that run() gave to a moment of this rank's clock.
    Nanoseconds since(Nanoseconds start, Nanoseconds local) const { return clock_.since(start, local); }

    int stop_signal() const { return agreement_.stop_signal(); }

private:
    template <DurationEngine Engine>
    Nanoseconds flow(Engine& engine, const Duration& duration, TickSamples& samples, Silence& silence);
    template <class Done, class Watch, class Engine>
    void wait_until(Done is_done, Watch watch, const Engine& engine);
    template <class Engine>
    bool has_stalled(const Engine& engine);
    template <class Engine>
    static Nanoseconds longest_pause_of(const Engine& engine);
    template <class Engine>
    Silence watch_over(const Engine& engine) const;
    template <class Engine>
    void look_for_silent(const Engine& engine, Silence& silence, Nanoseconds now) const;
    void listen(Nanoseconds now);
    bool is_told_to_stop() const;
    static std::uint64_t sum_of(std::span<const std::uint64_t> counters) {
        return std::accumulate(counters.begin(), counters.end(), std::uint64_t{0});
    }
    [[noreturn]] void fail_waiting(const char* when, const std::string& missing) const;
    [[noreturn]] void fail_silent(const Silent& silent) const;

    Job& job_;
    const CommonClock& clock_;
    Deadline& deadline_;
    Agreement agreement_;
    std::optional<Heartbeat> heartbeat_;
    Nanoseconds start_ = 0;     // on the common clock
    std::uint64_t counted_ = 0; // of all counters, at the last look
};

template <DurationEngine Engine>
Nanoseconds DurationLoop::run(Engine& engine, const Duration& duration, TickSamples& samples,
                              const Witness& witness) {
    samples.reserve(duration.samples());
    engine.prepare();
    Nanoseconds last = 0; // when something happened
    const auto watch = [&] {
        if (!engine.progress()) return false;
        last = now_ns();
        deadline_.reset();
        return true;
    };
    Silence silence = watch_over(engine);
    witness(Stage::ready);
    start_ = agreement_.reach(watch, [] { return "before the start"; });
    if (stop_signal() != 0) return start_;
    witness(Stage::start);

    const Nanoseconds go = clock_.to_local(start_);
    const Nanoseconds end = clock_.to_local(start_ + duration.length);
    if constexpr (OpenedEngine<Engine>) engine.open(go, end);
    while (now_ns() < go) {
    }
    heartbeat_.emplace(job_, deadline_.timeout(),
                       longest_pause_of(engine) + std::min(duration.tick, duration.look));
    last = flow(engine, duration, samples, silence);
    witness(Stage::end);
    const Nanoseconds took = std::min(clock_.since(start_, last), duration.length);
    const auto where = [&] { return fmt::format("after {}", format_duration(took)); };
    // All have started what they start, for which they may take as long as the duration.
    const auto outlast = [&] {
        const Nanoseconds now = now_ns();
        if (now < end + longest_pause_of(engine)) deadline_.hold();
        listen(now);
        return watch();
    };
    agreement_.reach(outlast, where);
    if (stop_signal() != 0) return start_;
    engine.expect(job_.all_to_all(engine.started()));
    wait_until([&] { return engine.is_drained(); }, watch, engine);
    samples.end(clock_.since(start_, last), engine.counters());
    if constexpr (SweptEngine<Engine>) engine.expect_sweep();
    agreement_.reach(watch, where); // who leaves first reads on until the last one is done
    witness(Stage::drained);
    if constexpr (SweptEngine<Engine>) {
        wait_until([&] { return engine.sweep(); }, watch, engine);
        agreement_.reach(watch, where);
    }
    return start_;
}

// The part that is measured: no allocation, no lock, and no word to or from other ranks but the engine's messages
// and a heartbeat every sixteenth of the timeout: a rank may stop for which nobody waits before the end. Gives its
// end.
template <DurationEngine Engine>
Nanoseconds DurationLoop::flow(Engine& engine, const Duration& duration, TickSamples& samples, Silence& silence) {
    constexpr int kAdvancesPerLook = 16; // reading the clock costs as much as one that finds nothing
    const std::size_t ticks = duration.ticks();
    const auto next_look = [&](Nanoseconds now, std::size_t ended) {
        return std::min(clock_.to_local(start_ + duration.end_of(ended)) - now, duration.look) + now;
    };
    Nanoseconds due = next_look(now_ns(), 0);
    deadline_.reset();
    counted_ = 0;
    std::uint64_t traced = 0;
    silence.start(now_ns());
    for (;;) {
        for (int i = 0; i < kAdvancesPerLook; ++i) {
            if (!engine.advance()) {
                deadline_.rest();
                if (deadline_.yields() || engine.is_over()) break;
                continue;
            }
            if (duration.traces) [[unlikely]]
                if (const std::uint64_t counted = sum_of(engine.counters()); counted != traced) {
                    samples.take(clock_.since(start_, now_ns()), engine.counters());
                    traced = counted;
                }
        }
        const Nanoseconds now = now_ns();
        if (now < due && !engine.is_over()) [[likely]]
            continue;
        const Nanoseconds moment = clock_.since(start_, now);
        const std::size_t ended = duration.ticks_before(moment);
        while (!duration.traces && samples.taken() < ended) samples.take(moment, engine.counters());
        if (ended == ticks || engine.is_over() || is_told_to_stop()) return now;
        if (!duration.may_starve && engine.has_peers() && has_stalled(engine))
            fail_waiting("in", engine.waiting_for());
        if (silence.is_due(now)) look_for_silent(engine, silence, now);
        listen(now);
        due = next_look(now, ended);
    }
}

template <class Engine>
Nanoseconds DurationLoop::longest_pause_of(const Engine& engine) {
    if constexpr (TellsPeersApart<Engine>) return engine.longest_pause();
    return 0;
}

// For longer than the timeout.
template <class Engine>
bool DurationLoop::has_stalled(const Engine& engine) {
    const std::uint64_t counted = sum_of(engine.counters());
    if (counted != counted_) deadline_.reset();
    counted_ = counted;
    return !deadline_.look() && deadline_.waited() >= deadline_.timeout() + longest_pause_of(engine);
}

// With room for what is seen of its peers.
template <class Engine>
Silence DurationLoop::watch_over(const Engine& engine) const {
    if constexpr (TellsPeersApart<Engine>) {
        Silence silence(deadline_.timeout() + engine.longest_pause(), engine.most_ahead());
        engine.see_peers(silence.seen());
        silence.start(now_ns());
        return silence;
    } else {
        return {deadline_.timeout(), 0};
    }
}

template <class Engine>
void DurationLoop::look_for_silent(const Engine& engine, Silence& silence, Nanoseconds now) const {
    if constexpr (TellsPeersApart<Engine>) engine.see_peers(silence.seen());
    const Silent silent = silence.look(now, counted_);
    if (!silent.peers.empty()) fail_silent(silent);
}

template <class Done, class Watch, class Engine>
void DurationLoop::wait_until(Done is_done, Watch watch, const Engine& engine) {
    deadline_.reset();
    while (!is_done())
        if (!watch() && !deadline_.idle()) fail_waiting("after", engine.waiting_for());
}

} // namespace a2aperf
