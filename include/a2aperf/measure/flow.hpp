// SPDX-License-Identifier: BSD-3-Clause
// How the messages of a point move for a duration: what PointRunner's Engine is to ops.
#pragma once

#include <concepts>
#include <utility>

#include "a2aperf/measure/duration_loop.hpp"

namespace a2aperf {

// Of one rank, on its own clock; kNoMoment = it had none.
struct FlowMoments {
    Nanoseconds begin;        // its first message was started
    Nanoseconds send_done;    // its last one was sent
    Nanoseconds receive_done; // the last one for it came
};

class Flow {
public:
    Flow() = default;
    virtual ~Flow() = default;
    Flow(const Flow&) = delete;
    Flow& operator=(const Flow&) = delete;

    virtual std::span<const std::string_view> counters() const = 0; // names of what its ticks count
    // Once; gives the start. As DurationLoop::run().
    virtual Nanoseconds run(DurationLoop& loop, const Duration& duration, TickSamples& samples,
                            const Witness& witness) = 0;

    // Of what has run.
    virtual bool is_over() const = 0; // by itself, before the duration was
    virtual FlowMoments moments() const = 0;
    virtual bool injects() const = 0; // its messages go by the provider's inject path
    // What its workload has of each rank beside these, in the order of its columns.
    virtual std::span<const std::int64_t> totals() const = 0;
};

// A duration engine that also says what a flow does.
template <class Engine>
concept FlowEngine = DurationEngine<Engine> && requires(const Engine& seen) {
    { seen.moments() } -> std::same_as<FlowMoments>;
    { seen.injects() } -> std::same_as<bool>;
    { seen.totals() } -> std::convertible_to<std::span<const std::int64_t>>;
};

// The loop is instantiated for the engine here, so that per message nothing is called through a pointer.
template <FlowEngine Engine>
class FlowOf final : public Flow {
public:
    template <class... Parts>
    explicit FlowOf(Parts&&... parts) : engine_(std::forward<Parts>(parts)...) {}

    std::span<const std::string_view> counters() const override { return Engine::kCounters; }
    Nanoseconds run(DurationLoop& loop, const Duration& duration, TickSamples& samples,
                    const Witness& witness) override {
        return loop.run(engine_, duration, samples, witness);
    }
    bool is_over() const override { return engine_.is_over(); }
    FlowMoments moments() const override { return engine_.moments(); }
    bool injects() const override { return engine_.injects(); }
    std::span<const std::int64_t> totals() const override { return engine_.totals(); }

    Engine& engine() { return engine_; }

private:
    Engine engine_;
};

} // namespace a2aperf
