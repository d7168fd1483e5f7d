// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/measure/op_loop.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "a2aperf/base/clock.hpp"
#include "a2aperf/base/error.hpp"
#include "a2aperf/job/stop_signal.hpp"

namespace a2aperf {

void OwnSamples::reserve(std::size_t ops, std::size_t traced_ranks) {
    for (auto* column : {&begin, &send_done, &receive_done, &start}) column->reserve(ops);
    arrival.reserve(ops * traced_ranks);
}

void OwnSamples::clear() {
    for (auto* column : {&begin, &send_done, &receive_done, &start, &arrival}) column->clear();
}

// The ballot carries the time at which each rank entered, the slack it wants and the signal it got. The largest
// entry time plus the largest slack is a start that nobody can have missed already.
Nanoseconds OpLoop::agree(Engine& engine) {
    const Nanoseconds entered = clock_.to_common(now_ns());
    job_.enter({entered, slack_, StopSignal::number()});
    deadline_.reset();
    while (!job_.is_agreed())
        if (!engine.progress() && !deadline_.idle()) fail_agreement();
    const auto& [slowest, slack, signal] = job_.result();
    // What the agreement itself took after the last rank entered, with half as much again for the next one.
    const Nanoseconds took = clock_.to_common(now_ns()) - slowest;
    slack_ =
        std::clamp(std::max(took + took / 2, slack_ - slack_ / 16), Nanoseconds{5'000}, Nanoseconds{20'000'000});
    stop_signal_ = static_cast<int>(signal);
    return slowest + slack;
}

void OpLoop::fail_agreement() const {
    std::vector<std::string> names;
    const Nanoseconds waited = deadline_.waited();
    for (const Rank rank : job_.missing_ranks()) names.push_back(job_.who(rank));
    // A rank that is merely late may be among them: it has not begun to wait.
    const std::string silent =
        names.empty() ? "" : fmt::format("; nothing was heard of {} in a second more", fmt::join(names, ", "));
    throw RunError(fmt::format("at op {}: it waited {} for the other ranks to finish theirs{}", op_ - 1,
                               format_duration(waited), silent));
}

int OpLoop::run(Engine& engine, int count, OwnSamples& samples) {
    int done = 0;
    for (; done < count; ++done) {
        engine.prepare(next_op());
        const Nanoseconds scheduled = agree(engine);
        // A stop leaves receives of this op posted; they are never matched and go with the endpoint.
        if (stop_signal_ != 0) break;

        const Nanoseconds go = start_ == Start::clock ? clock_.to_local(scheduled) : 0;
        Nanoseconds begin = 0;
        while ((begin = now_ns()) < go) {
        }
        const Moments moments = engine.run();
        // Without a scheduled start each rank counts from its own; with one, all count on the common clock.
        const auto since_start = [&](Nanoseconds local) {
            return start_ == Start::clock ? clock_.since(scheduled, local) : local - begin;
        };
        // What was here before our own start is seen right after it: nothing takes no time, rates divide by it.
        const auto arrival = [&](Nanoseconds local) { return since_start(std::max(local, begin + 1)); };
        samples.begin.push_back(since_start(begin));
        samples.send_done.push_back(moments.send_done == kNoMoment ? kNoMoment : since_start(moments.send_done));
        samples.receive_done.push_back(arrival(moments.receive_done));
        for (const Nanoseconds arrived : engine.arrival_times())
            samples.arrival.push_back(arrived < 0 ? -1 : arrival(arrived));
        samples.start.push_back(start_ == Start::clock ? scheduled : clock_.to_common(begin));
    }
    settle(engine);
    return done;
}

} // namespace a2aperf
