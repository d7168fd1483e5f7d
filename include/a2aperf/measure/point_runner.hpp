// SPDX-License-Identifier: BSD-3-Clause
// From a point to its result: verify, warm up, run blocks of ops until a rule ends it, gather, summarise.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "a2aperf/measure/channels.hpp"
#include "a2aperf/measure/counters.hpp"
#include "a2aperf/measure/mode_table.hpp"
#include "a2aperf/result/point_result.hpp"

namespace a2aperf {

struct RunRules {
    int ops = 100;
    int warmup = 20;
    std::optional<double> precision; // reach of the median's interval, at most
    int min_ops = 30, max_ops = 1000;
    std::optional<Nanoseconds> time_budget; // per point
    SummaryRules summary;
    Summarise summarise = a2aperf::summarise;
    int block = 10; // ops of one engine before another one takes its turn; the first block of any point
    std::vector<std::string_view> own_samples; // names of the moments that the engine alone has
    std::uint64_t seed = 1;
    const NodeCores* cores = nullptr; // as of EngineParts
    bool traces = false;              // keeps when each message arrived
    Nanoseconds time_origin = 0;      // on the common clock: the zero of Samples::start
    // Whether a rank that begins late spoils the op: not where each transfer is timed between its own two ends.
    bool has_late_limit = true;

    int target() const { return precision ? max_ops : ops; }
    // Attempts that one point may make: twice the target where starts can be late.
    int max_attempts(Start start) const { return start == Start::clock ? 2 * target() : target(); }
};

// ops done, ops expected, time of the last op in ns; on rank 0, between blocks.
using ProgressReport = std::function<void(int, int, double)>;

// Between blocks of ops, on all ranks: agrees on the clock anew where that is due. The largest error bound so far,
// ns.
using ClockKeeper = std::function<double()>;

// How the ops of a point move their data.
using MakeEngine = std::function<std::unique_ptr<Engine>(const EngineParts&)>;

struct PointOutcome {
    PointResult own;
    std::optional<PointResult> beside{}; // of what was measured in alternation with it
};

class PointRunner {
public:
    PointRunner(Job& job, std::span<Channel* const> channels, OpLoop& loop, Deadline& deadline,
                const NodeCounterReader& node_counters, RunRules rules)
        : job_(job), channels_(channels), loop_(loop), deadline_(deadline), node_counters_(node_counters),
          rules_(std::move(rules)) {}

    void set_progress(ProgressReport report) { report_ = std::move(report); }
    // Another one than the mode's exchange.
    void set_engine(MakeEngine make_engine) { make_engine_ = std::move(make_engine); }
    void set_clock_keeper(ClockKeeper keep) { keep_clock_ = std::move(keep); }

    // Collective; throws RunError or Interrupted.
    void verify(const Point& point);

    // Verifies, then measures the point, and another beside it, block by block in alternation: MPI, or one of the
    // same size (which is verified, too). Null: it alone. Collective. The result is complete on rank 0 only.
    PointOutcome measure(const Point& point, const Point* beside = nullptr);

    // The ops that were asked for, neither verified nor summarised, the warm-up left out. Collective; they are on
    // rank 0.
    Samples sample(const Point& point);

private:
    struct Series;
    struct Decision {
        bool is_over = false;
        int next_block = 1;
    };

    EngineParts parts(const Point& point) {
        return {job_,        channels_of(channels_, point), loop_, deadline_, point, rules_.seed, rules_.traces,
                rules_.cores};
    }
    // How its ops are done; of a baseline, by MPI.
    std::unique_ptr<Engine> engine_of(const Point& point);
    std::unique_ptr<Engine> engine_of_op(const Point& point);
    PhaseCounts counted_verification(const Point& point);
    void run_block(Series& series, int count, OpKind kind);
    void gather_block(Series& series);
    void gather_arrivals(Series& series);
    void gather_own(Series& series);
    double warm_up(Series& series);
    void run_blocks(std::vector<Series>& all, bool alternates);
    StopRule rule_met(const Series& series) const;
    Decision decide(std::vector<Series>& all, Nanoseconds elapsed, Nanoseconds block_time, int block) const;
    PointResult finish(Series& series, const Point& point);
    SummaryRules summary_rules() const; // with how ops of this launch start

    Job& job_;
    std::span<Channel* const> channels_;
    OpLoop& loop_;
    Deadline& deadline_;
    const NodeCounterReader& node_counters_;
    RunRules rules_;
    ProgressReport report_ = [](int, int, double) {};
    ClockKeeper keep_clock_ = [] { return 0.0; };
    MakeEngine make_engine_ = [](const EngineParts& parts) {
        return find_mode(parts.point.mode).make_engine(parts);
    };
    double clock_error_ns_ = 0;
};

} // namespace a2aperf
