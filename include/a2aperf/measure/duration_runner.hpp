// SPDX-License-Identifier: BSD-3-Clause
// From a point to its result where it runs for a duration: verify, run, gather, summarise. What PointRunner is to
// points of ops.
#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "a2aperf/measure/counters.hpp"
#include "a2aperf/measure/flow.hpp"
#include "a2aperf/measure/mode_table.hpp"
#include "a2aperf/measure/point_runner.hpp"
#include "a2aperf/result/point_result.hpp"

namespace a2aperf {

struct DurationRules {
    Duration duration;
    StopRule at_its_end = StopRule::duration; // what ended a point that did not end by itself
    // Columns of the samples, as the workload declares them: when each tick was taken, what the flow counts in it,
    // and its totals. Of a flow that takes samples by itself they are its moments and values.
    std::string_view tick_end;
    std::vector<std::string_view> tick_counts, totals;
    std::vector<std::string_view>
        buckets; // where each bucket of a histogram begins, and how many are in it; or none
    SummaryRules summary;
    Summarise summarise = a2aperf::summarise;
    std::uint64_t seed = 1;
    const NodeCores* cores = nullptr; // as of EngineParts
    Nanoseconds time_origin = 0;      // on the common clock: the zero of Samples::start
    std::vector<int> clock_of_rank{}; // [R], as Samples::clock_of_rank
};

// How the messages of a point move.
using MakeFlow = std::function<std::unique_ptr<Flow>(const EngineParts&)>;

class DurationRunner {
public:
    DurationRunner(Job& job, std::span<Channel* const> channels, OpLoop& ops, DurationLoop& durations,
                   Deadline& deadline, const NodeCounterReader& node_counters, DurationRules rules)
        : job_(job), channels_(channels), ops_(ops), durations_(durations), deadline_(deadline),
          node_counters_(node_counters), rules_(std::move(rules)) {}

    void set_clock_keeper(ClockKeeper keep) { keep_clock_ = std::move(keep); }

    // Verifies the point, then runs it once: its one op is the duration, from the start to the last arrival.
    // Collective; the result is complete on rank 0 only. Throws RunError or Interrupted.
    PointResult measure(const Point& point, const MakeFlow& make_flow);

private:
    struct Run;

    Run run(Flow& flow);
    void gather_moments(const Run& run, Samples& samples);
    void gather_ticks(const TickSamples& mine, Samples& samples);
    void gather_kept(const Run& run, const KeptSamples& kept, Samples& samples);
    void gather_buckets(const KeptSamples& kept, Samples& samples);
    void gather_along(std::size_t most, std::string_view column, std::span<const std::int64_t> mine,
                      Samples& samples);
    void gather_totals(const Flow& flow, Samples& samples);

    Job& job_;
    std::span<Channel* const> channels_;
    OpLoop& ops_; // of the verification
    DurationLoop& durations_;
    Deadline& deadline_;
    const NodeCounterReader& node_counters_;
    DurationRules rules_;
    ClockKeeper keep_clock_ = [] { return 0.0; };
};

} // namespace a2aperf
