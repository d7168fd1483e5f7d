// SPDX-License-Identifier: BSD-3-Clause
#include "launch.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "a2aperf/base/clock.hpp"
#include "a2aperf/base/error.hpp"
#include "a2aperf/base/version.hpp"
#include "a2aperf/fabric/provider.hpp"
#include "a2aperf/measure/environment.hpp"
#include "a2aperf/plan/oversubscription.hpp"
#include "a2aperf/record/closing.hpp"
#include "a2aperf/record/progress.hpp"

namespace a2aperf {
namespace {

std::optional<Polling> wanted_polling(Poll poll) {
    switch (poll) {
    case Poll::spin:
        return Polling::spin;
    case Poll::yield:
        return Polling::yield;
    case Poll::block:
        return Polling::block;
    case Poll::automatic:
        break;
    }
    return std::nullopt;
}

std::optional<Start> wanted_start(Sync sync) {
    if (sync == Sync::automatic) return std::nullopt;
    return sync == Sync::clock ? Start::clock : Start::barrier;
}

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr ? value : "";
}

// Rank 0 alone touches the file; what goes wrong there is everybody's.
template <class Action>
void on_root(const Job& job, Action&& action) {
    std::string trouble;
    bool is_usage = true;
    if (job.is_root()) try {
            action();
        } catch (const UsageError& error) {
            trouble = error.what();
        } catch (const std::exception& error) {
            trouble = words_of(error);
            is_usage = false;
        }
    job.broadcast_text(trouble);
    job.broadcast(is_usage);
    if (trouble.empty()) return;
    if (is_usage) throw UsageError(trouble);
    throw RunError(trouble);
}

} // namespace

Launch::Launch(Job& job, const Options& options, Files files)
    : job_(job), options_(options), workload_(workload_of(options)), files_(std::move(files)),
      choice_(choose_provider(
          job, {options.provider, options.nic, options.modes, mode_demands(), mpi_uses_libfabric()})),
      budget_(memory_budget(job, options.memory_limit, options.sizes)), plan_(plan_points()),
      cores_of_nodes_(cores_of_nodes(job, choice_.here)),
      is_oversubscribed_(a2aperf::is_oversubscribed(job.layout(), cores_of_nodes_)),
      polling_(choose_polling(wanted_polling(options.poll), is_oversubscribed_)),
      deadline_(polling_.polling, options.timeout), loop_(job, clock_.mine, deadline_) {
    // After the provider's own variables are set: they are part of what was measured.
    environment_ = agree_on_environment(job, options.required_environment);
    if (plan_.order.empty()) throw NothingToMeasure(why_all_skipped(plan_));
    Rights rights;
    bool has_flags = false;
    for (const auto& mode : options.modes)
        if (!choice_.refused_modes.contains(mode)) {
            rights.source |= find_mode(mode).rights.source;
            rights.target |= find_mode(mode).rights.target;
            has_flags = has_flags || find_mode(mode).arrival == Arrival::flag;
        }
    channels_.emplace(job, choice_.offer,
                      ChannelSettings{.buffer_bytes = buffer_bytes(plan_, budget_, job.ranks()),
                                      .spare_bytes = largest_message(plan_),
                                      .pages = options.memory == Memory::huge ? Pages::huge : Pages::normal,
                                      .wait = polling_.polling == Polling::block ? Wait::object : Wait::none,
                                      .rights = rights,
                                      .has_flags = has_flags});
}

void Launch::connect() {
    clock_ = agree_on_clock(job_);
    synchronised_ = now_ns();
    choose_start_of_ops();
    std::vector<NicFacts> adapters_of_rank;
    for (const Channel* channel : channels_->all()) adapters_of_rank.push_back(channel->adapter());
    const auto adapters = adapters_in_use(job_, adapters_of_rank);
    const auto& adapters_here = adapters[static_cast<std::size_t>(job_.layout().node_of(job_.rank()))];
    node_link_ = node_link(adapters);
    port_names_ = agree_on_port_names(job_, adapters_here);
    node_counters_.emplace(adapters_here, port_names_);
    time_origin_ = clock_.mine.to_common(now_ns());
    job_.broadcast(time_origin_);
    time_origin_wall_ = wall_clock_ns();
}

Plan Launch::plan_points() {
    Plan plan = workload_.plan(options_, job_.layout(), [&](const Point& point) {
        return skip_reason(point, choice_, budget_, job_.ranks());
    });
    // A resumed run keeps the order in which the first one was to go, and how its ops started.
    std::vector<int> order = plan.order;
    StoredChoices stored;
    on_root(job_, [&] {
        if (options_.overwrite == Overwrite::resume && std::filesystem::exists(files_.results))
            stored = stored_choices(files_.results, workload_.schema());
    });
    if (!stored.start.empty()) order = stored.order;
    job_.broadcast_text(stored.start);
    if (!stored.start.empty())
        stored_start_ = stored.start == to_string(Start::clock) ? Start::clock : Start::barrier;
    if (std::is_permutation(order.begin(), order.end(), plan.order.begin(), plan.order.end())) plan.order = order;
    for (int& index : plan.order) job_.broadcast(index);
    return plan;
}

// Where ops wait for all ranks the first one is verified: it connects every pair of ranks before anything is timed.
// Otherwise each point does so by itself.
void Launch::choose_start_of_ops() {
    const std::optional<Start> asked = wanted_start(options_.sync);
    const std::optional<Start> wanted = asked ? asked : stored_start_;
    if (workload_.is_collective()) {
        connect_and_try(wanted);
    } else {
        start_ = choose_start_without_trial(wanted, is_oversubscribed_);
    }
    if (!asked && stored_start_) start_.reason = "as in the launch before";
    loop_.set_start(start_.start);
}

void Launch::connect_and_try(std::optional<Start> wanted) {
    const Point& first = plan_.points[static_cast<std::size_t>(plan_.order.front())];
    const EngineParts parts{job_, channels_->all(), loop_, deadline_, first, options_.seed};
    try {
        find_mode(first.mode).verify(parts);
        start_ = choose_start(wanted, is_oversubscribed_, clock_.error_ns, job_, loop_, *workload_.engine(parts));
    } catch (const RunError& error) {
        throw RunError(fmt::format("connecting, {}: {}", first.label(), error.what()));
    }
}

std::string Launch::mpi_transport() const {
    return baseline_transport(provider(), job_.layout().nodes() > 1);
}

std::string Launch::provider() const {
    return choice_.offer.provider();
}

std::string Launch::oversubscription() const {
    std::vector<std::string> nodes;
    for (const auto& ranks_here : job_.layout().rank_at()) nodes.push_back(job_.host(ranks_here.front()));
    return a2aperf::oversubscription(job_.layout(), cores_of_nodes_, nodes);
}

Provenance Launch::provenance() {
    Provenance facts;
    collect_facts(job_, choice_, facts);
    facts.clock_domain_of_rank = clock_.domain_of_rank;
    facts.clock_offset = clock_.offset;
    facts.clock_drift = clock_.drift;
    for (const int cores : cores_of_nodes_)
        facts.node_facts["cores_of_ranks"].push_back(cores > 0 ? fmt::to_string(cores) : "");
    facts.environment = environment_;
    facts.labels = options_.labels;
    facts.attachments = files_.attachments;
    facts.port_names = port_names_;
    facts.time_origin_ns = time_origin_wall_;
    facts.text = {{"program_version", std::string(program_version())},
                  {"commit", std::string(program_commit())},
                  {"command_line", options_.command_line},
                  {"started", format_utc(time_origin_wall_)},
                  {"provider", provider()},
                  {"provider_version", choice_.offer.provider_version()},
                  {"libfabric_version", libfabric_version()},
                  {"mpi_version", Job::mpi_version()},
                  {"domain", choice_.offer.domain()},
                  {"sync", std::string(to_string(start_.start))},
                  {"sync_reason", start_.reason},
                  {"poll", std::string(to_string(polling_.polling))},
                  {"poll_reason", polling_.reason},
                  {"memory", options_.memory == Memory::huge ? "huge" : "default"},
                  {"order", options_.order == Order::shuffled ? "shuffled" : "declared"},
                  {"tuned_environment", fmt::format("{}", fmt::join(choice_.environment, " "))},
                  {"slurm_job_id", variable("SLURM_JOB_ID")},
                  {"baseline_transport", options_.with_mpi_baseline ? mpi_transport() : ""}};
    facts.integers = {{"memory_limit", static_cast<std::int64_t>(budget_.per_node)},
                      {"seed", static_cast<std::int64_t>(options_.seed)},
                      {"shuffle_ranks", options_.shuffle_ranks ? 1 : 0},
                      {"warmup", options_.warmup},
                      {"rails", node_link_.rails}};
    const double unknown = std::nan("");
    facts.numbers = {{"clock_error_ns", clock_.error_ns},
                     {"link_rate_gbps", node_link_.gbps > 0 ? node_link_.rail_gbps() : unknown}};
    facts.provider_attributes = choice_.offer.attributes();
    return facts;
}

void Launch::open_file() {
    const Provenance facts = provenance();
    on_root(job_, [&] {
        const RecorderSettings settings{.file = files_.results,
                                        .max_attempts = rules_for(Point{}).max_attempts(start_.start),
                                        .percentile = options_.percentile,
                                        .complete_at = options_.complete_at,
                                        .provider = provider(),
                                        .schema = workload_.schema(),
                                        .group = workload_.group(options_, plan_, job_.ranks()),
                                        .is_traced = options_.traces,
                                        .may_replace = options_.overwrite == Overwrite::force};
        recorder_.emplace(options_.overwrite == Overwrite::resume && std::filesystem::exists(files_.results)
                              ? Recorder::resume(settings, plan_, job_.layout(), facts)
                              : Recorder::create(settings, plan_, job_.layout(), facts));
    });
}

RunRules Launch::rules_for(const Point& point) const {
    constexpr int kSentinelOps = 30; // enough for an interval of the median, few enough to cost nothing
    RunRules rules;
    rules.ops = options_.ops;
    rules.warmup = options_.warmup;
    rules.precision = options_.precision;
    rules.min_ops = options_.min_ops;
    rules.max_ops = options_.max_ops;
    rules.time_budget = options_.time_budget;
    rules.seed = options_.seed;
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
                     .node_link_gbps = node_link_.gbps};
    if (point.role == Role::sentinel) {
        rules.ops = std::min(kSentinelOps, rules.target());
        rules.precision.reset();
    }
    return rules;
}

bool Launch::is_done_before(int index) {
    const int partner = plan_.points[static_cast<std::size_t>(index)].partner;
    bool is_done = recorder_ && recorder_->is_complete(index) && (partner < 0 || recorder_->is_complete(partner));
    job_.broadcast(is_done);
    return is_done;
}

int Launch::points_in_file() const {
    int points = 0;
    for (std::size_t i = 0; i < plan_.points.size(); ++i) {
        const Point& point = plan_.points[i];
        const bool counts = point.role != Role::sentinel && !point.is_baseline();
        if (counts && recorder_->is_complete(static_cast<int>(i))) ++points;
    }
    return points;
}

void Launch::verify_all() {
    PointRunner runner(job_, channels_->all(), loop_, deadline_, *node_counters_, rules_for(Point{}));
    int verified = 0;
    for (const int index : plan_.order) {
        const Point& point = plan_.points[static_cast<std::size_t>(index)];
        if (point.role == Role::sentinel) continue; // a copy of another point
        at_hand_ = point.label();
        runner.verify(point);
        ++verified;
    }
    at_hand_.clear();
    if (job_.is_root())
        std::printf("%s verified, every byte of every message\n", counted(verified, "point").c_str());
}

} // namespace a2aperf
