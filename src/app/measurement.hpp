// SPDX-License-Identifier: BSD-3-Clause
// What measures the points of a launch: channels, the common clock, how ops start.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "a2aperf/measure/adapters.hpp"
#include "a2aperf/measure/channels.hpp"
#include "a2aperf/measure/clock_sync.hpp"
#include "a2aperf/measure/duration_runner.hpp"
#include "a2aperf/measure/op_loop.hpp"
#include "a2aperf/measure/point_runner.hpp"
#include "preparation.hpp"
#include "workload.hpp"

namespace a2aperf {

class Measurement {
public:
    // Opens the channels. Collective.
    Measurement(Job& job, const Options& options, const Preparation& prepared, StartTimes& start_times);

    // Agrees on the clocks, exchanges first messages, decides how ops start; comes before all below. Where it fails
    // the channels are still there: libfabric 1.17 crashes when an endpoint is closed with large messages under
    // way.
    void connect();

    // Collective.
    void verify(const Point& point) { runner_for(point).verify(point); }
    PointOutcome measure(const Point& point, const Point* beside, ProgressReport report);
    void limit_points(Nanoseconds time) { time_of_point_ = time; }       // of each from here on
    PhaseCounts start_counts() const { return counted_start_.gather(); } // once connected; on rank 0
    Samples sample(const Point& point) { return runner_for(point).sample(point); }
    void finish(); // after the last point: the channels can be closed

    RunRules rules_for(const Point& point) const;
    const StartChoice& start() const { return start_; }
    const ClockAgreement& clock() const { return clock_; }
    const NodeLink& node_link() const { return node_link_; }
    // Of a --nic that names several: which are in use, on rank 0's node; empty else. On rank 0.
    std::string adapter_words() const;
    // Of a --link-rate that states nothing: no adapter is in use that has a name; empty otherwise.
    std::string link_rate_words() const;
    const std::vector<std::string>& port_names() const { return port_names_; }
    Nanoseconds time_origin() const { return time_origin_wall_; } // since 1970-01-01

private:
    StartChoice choose_start_of_ops();
    StartChoice connect_and_try(std::optional<Start> wanted); // how to start ops that wait for all ranks
    PointRunner runner_for(const Point& point, const Point* beside = nullptr);
    DurationRules duration_rules_for(const Point& point) const;
    double keep_clock(); // ClockKeeper

    Job& job_;
    const Options& options_;
    const Workload& workload_;
    const Preparation& prepared_;
    StartTimes& start_times_;
    Deadline deadline_;
    std::vector<std::vector<NicFacts>> adapters_; // of each node
    NodeLink node_link_;
    std::vector<std::string> port_names_;
    NodeCounterReader node_counters_;
    CountedPhase counted_start_; // begins before anything is opened
    Channels channels_;
    ClockAgreement clock_;
    Nanoseconds synchronised_ = 0; // when the clocks were last agreed on
    OpLoop loop_;
    DurationLoop durations_;
    std::optional<Nanoseconds> time_of_point_;
    StartChoice start_{Start::barrier, "nothing to measure"};
    Nanoseconds time_origin_ = 0;      // on the common clock
    Nanoseconds time_origin_wall_ = 0; // the same, since 1970-01-01
};

} // namespace a2aperf
