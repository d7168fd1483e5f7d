// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/measure/op_loop.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

#include "a2aperf/base/clock.hpp"

namespace a2aperf {

void OwnSamples::reserve(std::size_t ops, std::size_t traced_ranks, std::size_t moments_of_own) {
    for (auto* column : {&begin, &send_done, &receive_done, &start}) column->reserve(ops);
    arrival.reserve(ops * traced_ranks);
    own_moments.reserve(ops * moments_of_own);
}

void OwnSamples::clear() {
    for (auto* column : {&begin, &send_done, &receive_done, &start, &arrival, &own_moments}) column->clear();
}

namespace {

// Returns the time at which it ended. A start lies far ahead where others have the cores: they may have ours, too,
// and who has slept is sooner given one than who has waited for the clock.
Nanoseconds await(Nanoseconds start) {
    constexpr Nanoseconds kAwake = 1'000'000; // before the start
    Nanoseconds now = now_ns();
    if (start - now > 2 * kAwake) {
        std::this_thread::sleep_for(std::chrono::nanoseconds(start - now - kAwake));
        now = now_ns();
    }
    while (now < start) now = now_ns();
    return now;
}

} // namespace

Nanoseconds OpLoop::agree(Engine& engine) {
    return agreement_.reach([&] { return engine.progress(); }, [&] { return "at " + names_.of(op_ - 1); });
}

int OpLoop::run(Engine& engine, int count, OwnSamples& samples) {
    int done = 0;
    for (; done < count; ++done) {
        engine.prepare(next_op());
        // Without a common start the first op alone waits for all.
        const Nanoseconds scheduled = start_ != Start::none || done == 0 ? agree(engine) : 0;
        // A stop leaves receives of this op posted; they are never matched and go with the endpoint.
        if (stop_signal() != 0) break;

        const Nanoseconds go = start_ == Start::clock ? clock_.to_local(scheduled) : 0;
        const Nanoseconds begin = await(go);
        const Moments moments = engine.run();
        // Without a scheduled start each rank counts from its own; with one, all count on the common clock.
        const auto since_start = [&](Nanoseconds local) {
            if (local == kNoMoment) return kNoMoment;
            return start_ == Start::clock ? clock_.since(scheduled, local) : local - begin;
        };
        // What was here before our own start is seen right after it: nothing takes no time, rates divide by it.
        const auto arrival = [&](Nanoseconds local) { return since_start(std::max(local, begin + 1)); };
        samples.begin.push_back(since_start(begin));
        // A rank that sends nothing is done with it when it begins.
        const bool is_told = moments.send_done != kNoMoment;
        samples.send_done.push_back(is_told ? since_start(std::max(moments.send_done, begin)) : kNoMoment);
        samples.receive_done.push_back(arrival(moments.receive_done));
        for (const Nanoseconds arrived : engine.arrival_times())
            samples.arrival.push_back(arrived < 0 ? -1 : arrival(arrived));
        for (const Nanoseconds moment : engine.own_moments()) samples.own_moments.push_back(since_start(moment));
        samples.start.push_back(start_ == Start::clock ? scheduled : clock_.to_common(begin));
    }
    settle(engine);
    return done;
}

} // namespace a2aperf
