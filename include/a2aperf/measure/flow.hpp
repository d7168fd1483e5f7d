// SPDX-License-Identifier: BSD-3-Clause
// How the messages of a point move for a duration: what PointRunner's Engine is to ops.
#pragma once

#include <concepts>
#include <optional>
#include <utility>
#include <vector>

#include "a2aperf/measure/both_ends.hpp"
#include "a2aperf/measure/duration_loop.hpp"
#include "a2aperf/stats/time_histogram.hpp"

namespace a2aperf {

// Of one rank, on its own clock; kNoMoment = it had none.
struct FlowMoments {
    Nanoseconds begin;        // its first message was started
    Nanoseconds send_done;    // its last one was sent
    Nanoseconds receive_done; // the last one for it came
};

// Samples that a flow takes by itself, of each thing that it does: they stand in the place of those along ticks.
struct KeptSamples {
    std::span<const Nanoseconds> moments;              // of each, on the rank's own clock
    std::vector<std::span<const std::int64_t>> values; // columns, of as many
    std::int64_t lost = 0;                             // for which there was no room
    std::vector<TimeHistogram::Bucket> buckets{};      // of the last column, those without room too
    bool are_offsets = false;                          // the moments: from the start already
    std::optional<BothEnds> both_ends{};               // of round trips: the last two columns are told by servers
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
    // What this rank has to say of it in words, a line each; empty = nothing.
    virtual std::string told() const { return {}; }
    virtual std::optional<KeptSamples> kept() const { return std::nullopt; }
};

// A duration engine that also says what a flow does.
template <class Engine>
concept FlowEngine = DurationEngine<Engine> && requires(const Engine& seen) {
    { seen.moments() } -> std::same_as<FlowMoments>;
    { seen.injects() } -> std::same_as<bool>;
    { seen.totals() } -> std::convertible_to<std::span<const std::int64_t>>;
};

// One that takes its samples by itself: at most so many, and where no memory is allocated any more.
template <class Engine>
concept KeepsSamples = FlowEngine<Engine> && requires(Engine& engine, const Engine& seen) {
    engine.reserve(std::size_t{});
    { seen.kept() } -> std::same_as<KeptSamples>;
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
        if constexpr (KeepsSamples<Engine>) engine_.reserve(duration.most_samples);
        return loop.run(engine_, duration, samples, witness);
    }
    bool is_over() const override { return engine_.is_over(); }
    FlowMoments moments() const override { return engine_.moments(); }
    bool injects() const override { return engine_.injects(); }
    std::span<const std::int64_t> totals() const override { return engine_.totals(); }
    std::optional<KeptSamples> kept() const override {
        if constexpr (KeepsSamples<Engine>) return engine_.kept();
        return std::nullopt;
    }

    Engine& engine() { return engine_; }

private:
    Engine engine_;
};

} // namespace a2aperf
