// SPDX-License-Identifier: BSD-3-Clause
#include "measurement.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "a2aperf/base/clock.hpp"
#include "a2aperf/base/error.hpp"
#include "a2aperf/measure/last_answers.hpp"

namespace a2aperf {
namespace {

std::optional<Start> wanted_start(Sync sync) {
    switch (sync) {
    case Sync::clock:
        return Start::clock;
    case Sync::barrier:
        return Start::barrier;
    case Sync::none:
        return Start::none;
    case Sync::automatic:
        break;
    }
    return std::nullopt;
}

NodeLink link_of(const Job& job, const std::vector<std::vector<NicFacts>>& adapters, const ProviderChoice& choice,
                 std::optional<double> stated) {
    NodeLink link = a2aperf::node_link(adapters, stated);
    const std::vector<NicFacts> mine = adapters_of(choice.used());
    const auto known = static_cast<std::int64_t>(mine.size()) - std::ranges::count(mine, "", &NicFacts::name);
    link.of_rank = std::max(1, static_cast<int>(job.max(known))); // as rails: of what the system has a name for
    return link;
}

std::string list_of(const std::vector<NicFacts>& adapters) {
    return fmt::format("{}", fmt::join(names_of(adapters), ", "));
}

// Of each node [N].
std::vector<std::string> hosts_of(const Job& job) {
    std::vector<std::string> hosts;
    for (const std::vector<Rank>& here : job.layout().rank_at()) hosts.push_back(job.host(here.front()));
    return hosts;
}

const std::vector<NicFacts>& of_this_node(const std::vector<std::vector<NicFacts>>& adapters, const Job& job) {
    return adapters[static_cast<std::size_t>(job.layout().node_of(job.rank()))];
}

} // namespace

Measurement::Measurement(Job& job, const Options& options, const Preparation& prepared, StartTimes& start_times)
    : job_(job), options_(options), workload_(workload_of(options)), prepared_(prepared), start_times_(start_times),
      deadline_(prepared.polling.way.polling, options.timeout, prepared.polling.way.throttle),
      adapters_(adapters_in_use(job, adapters_of(prepared.choice.used()))),
      node_link_(link_of(job, adapters_, prepared.choice, options.link_rate)),
      port_names_(agree_on_port_names(job, of_this_node(adapters_, job))),
      node_counters_(of_this_node(adapters_, job), port_names_), counted_start_(job, node_counters_),
      channels_(job, prepared.choice.offer, prepared.channel_settings(options, job), channel_counts(prepared.plan),
                prepared.choice.dealt),
      loop_(job, clock_.mine, deadline_), durations_(job, clock_.mine, deadline_),
      time_of_point_(options.time_budget) {
    start_times.end(StartPhase::counters, channels_.all().front()->start_times().begin());
    for (const Channel* channel : channels_.all()) start_times.add(channel->start_times());
}

void Measurement::connect() {
    clock_ = agree_on_clock(job_);
    synchronised_ = now_ns();
    start_times_.end(StartPhase::clock);
    start_ = choose_start_of_ops();
    loop_.set_start(start_.start);
    time_origin_ = clock_.mine.to_common(now_ns());
    job_.broadcast(time_origin_);
    time_origin_wall_ = wall_clock_ns();
    counted_start_.end();
    start_times_.end(StartPhase::start_of_ops);
}

// Where ops wait for all ranks the first one is verified: it connects every pair of ranks before anything is timed.
// Otherwise each point does so by itself.
StartChoice Measurement::choose_start_of_ops() {
    if (workload_.most_ticks(options_, job_.ranks()) > 0)
        return {Start::clock, "a duration starts on the common clock"};
    const std::optional<Start> asked = wanted_start(options_.sync);
    const std::optional<Start> wanted = asked ? asked : prepared_.stored_start;
    StartChoice choice = workload_.is_collective()
                             ? connect_and_try(wanted)
                             : choose_start_without_trial(wanted, prepared_.is_oversubscribed(job_.layout()));
    if (!asked && prepared_.stored_start) choice.reason = "as in the launch before";
    return choice;
}

StartChoice Measurement::connect_and_try(std::optional<Start> wanted) {
    const Plan& plan = prepared_.plan;
    const Point& first = plan.points[static_cast<std::size_t>(plan.order.front())];
    const EngineParts parts{job_,  channels_.of(first), loop_, deadline_,
                            first, options_.seed,       false, &prepared_.node_cores};
    try {
        const Nanoseconds with_bytes = find_mode(first.mode).verify(parts);
        start_times_.end(StartPhase::connect);
        start_times_.move(with_bytes, StartPhase::connect, StartPhase::payload);
        return choose_start(wanted, prepared_.is_oversubscribed(job_.layout()), clock_.error_ns, job_, loop_,
                            *workload_.engine(parts));
    } catch (const RunError& error) {
        throw RunError(fmt::format("connecting, {}: {}", first.label(), error.what()), reason_of(error));
    }
}

double Measurement::keep_clock() {
    constexpr Nanoseconds kResynchronise = 5'000'000'000;
    // All ranks see rank 0's clock, so that all or none go.
    bool is_due = now_ns() - synchronised_ > kResynchronise;
    job_.broadcast(is_due);
    if (is_due) {
        resynchronise(job_, clock_);
        synchronised_ = now_ns();
    }
    return clock_.error_ns;
}

RunRules Measurement::rules_for(const Point& point) const {
    constexpr int kSentinelOps = 30; // enough for an interval of the median, few enough to cost nothing
    RunRules rules;
    rules.ops = options_.ops;
    rules.warmup = options_.warmup;
    rules.precision = options_.precision;
    rules.min_ops = options_.min_ops;
    rules.max_ops = options_.max_ops;
    rules.time_budget = time_of_point_;
    rules.seed = options_.seed;
    rules.cores = &prepared_.node_cores;
    rules.traces = options_.traces;
    rules.time_origin = time_origin_;
    rules.has_late_limit = workload_.is_collective();
    const Schema schema = workload_.schema();
    rules.summarise = schema.summarise;
    if (schema.block > 0) rules.block = schema.block;
    for (const SampleColumn& column : schema.samples)
        if (column.common == nullptr) rules.own_samples.push_back(column.name);
    rules.summary = {.percentile = options_.percentile,
                     .complete_at = options_.complete_at,
                     .has_common_start = start_.start == Start::clock,
                     .node_link_gbps = node_link_.gbps,
                     .rank_link_gbps = node_link_.rank_gbps(),
                     .is_uniform = point.traffic == nullptr};
    if (workload_.is_collective())
        rules.summary.loads =
            point.traffic ? point.traffic->loads() : uniform_loads(job_.layout(), point.message_size);
    if (point.traffic) rules.summary.loads_in_turn = point.traffic->loads_of_draws();
    if (point.role == Role::sentinel) {
        rules.ops = std::min(kSentinelOps, rules.target());
        rules.precision.reset();
    }
    return rules;
}

PointRunner Measurement::runner_for(const Point& point, const Point* beside) {
    channels_.use_memory_of(point);
    if (beside != nullptr && !beside->is_baseline()) channels_.use_memory_of(*beside);
    PointRunner runner(job_, channels_.all(), loop_, deadline_, node_counters_, rules_for(point));
    runner.set_clock_keeper([this] { return keep_clock(); });
    runner.set_engine([this](const EngineParts& parts) { return workload_.engine(parts); });
    return runner;
}

// Of the declared columns along ticks the first has when each was taken.
DurationRules Measurement::duration_rules_for(const Point& point) const {
    const RunRules common = rules_for(point);
    DurationRules rules;
    rules.duration = workload_.duration_of(options_, point);
    if (options_.time_budget && *options_.time_budget < rules.duration.length) {
        rules.duration.length = *options_.time_budget;
        rules.at_its_end = StopRule::time_budget;
    }
    rules.duration.most_samples = static_cast<std::size_t>(workload_.most_ticks(options_, job_.ranks()));
    const Schema schema = workload_.schema();
    for (const SampleColumn& column : schema.samples) {
        if (column.common != nullptr) continue;
        if (column.per == Per::bucket)
            rules.buckets.push_back(column.name);
        else if (column.per != Per::tick)
            rules.totals.push_back(column.name);
        else if (rules.tick_end.empty())
            rules.tick_end = column.name;
        else
            rules.tick_counts.push_back(column.name);
    }
    rules.summary = common.summary;
    rules.summarise = common.summarise;
    rules.seed = common.seed;
    rules.cores = common.cores;
    rules.time_origin = common.time_origin;
    rules.clock_of_rank = clock_.domain_of_rank;
    return rules;
}

std::string Measurement::adapter_words() const {
    const ProviderChoice& choice = prepared_.choice;
    if (!names_several_nics(workload_.nic_of(options_, job_.rank(), job_.ranks()))) return {};
    const std::vector<NicFacts>& here = of_this_node(adapters_, job_);
    if (here.empty())
        return fmt::format("--nic {}: for {} no adapter is known", options_.nic, prepared_.provider());
    if (choice.adapters.empty()) return fmt::format("--nic {}: one on each node ({})", options_.nic, list_of(here));
    const auto count = adapters_of(choice.adapters).size();
    const bool is_each = choice.dealt.size() >= choice.adapters.size();
    return fmt::format("--nic {}: {} of {} of {} in use ({}), which {} take in turn{}", options_.nic, here.size(),
                       counted(count, "adapter"), job_.host(job_.rank()), list_of(here),
                       is_each ? "endpoints of a rank" : "ranks of a node", mean_words(node_link_, hosts_of(job_)));
}

std::string Measurement::link_rate_words() const {
    if (!options_.link_rate || node_link_.gbps > 0) return {};
    return fmt::format("--link-rate {:g} Gbit/s: {}, so nothing follows from it", *options_.link_rate,
                       unknown_words(adapters_, hosts_of(job_), prepared_.provider()));
}

void Measurement::finish() {
    deadline_.poll_as(std::nullopt);
    Agreement agreement(job_, clock_.mine, deadline_);
    for (Channel* channel : channels_.all()) take_last_answers(*channel, job_, agreement, deadline_);
}

PointOutcome Measurement::measure(const Point& point, const Point* beside, ProgressReport report) {
    if (workload_.most_ticks(options_, job_.ranks()) > 0) {
        DurationRunner runner(job_, channels_.of(point), loop_, durations_, deadline_, node_counters_,
                              duration_rules_for(point));
        runner.set_clock_keeper([this] { return keep_clock(); });
        return {.own = runner.measure(point, [this](const EngineParts& parts) { return workload_.flow(parts); })};
    }
    PointRunner runner = runner_for(point, beside);
    runner.set_progress(std::move(report));
    return runner.measure(point, beside);
}

} // namespace a2aperf
