// SPDX-License-Identifier: BSD-3-Clause
#include "preparation.hpp"

#include <algorithm>
#include <cstdlib>
#include <span>
#include <sstream>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "a2aperf/base/error.hpp"
#include "a2aperf/base/random.hpp"
#include "a2aperf/fabric/provider.hpp"
#include "a2aperf/fabric/variables.hpp"
#include "a2aperf/measure/environment.hpp"
#include "a2aperf/measure/mode_table.hpp"
#include "a2aperf/measure/mpi_transport.hpp"
#include "a2aperf/plan/oversubscription.hpp"
#include "endpoint_room.hpp"
#include "usual_settings.hpp"

namespace a2aperf {
namespace {

// tcp and net leave Nagle's algorithm on for FI_TC_BULK_DATA unless this is set: that class would measure it, too.
// Before libfabric reads it. Gives what was set.
std::optional<std::string> set_no_delay(std::span<const TrafficClass> classes) {
    constexpr const char* kName = "FI_TCP_NODELAY";
    const auto is_bulk = [](const TrafficClass& one) {
        return one.kind == TrafficClass::Kind::named && one == TrafficClass::parse("bulk");
    };
    if (std::ranges::none_of(classes, is_bulk) || std::getenv(kName) != nullptr) return std::nullopt;
    setenv(kName, "1", 0);
    return fmt::format("{}=1", kName);
}

// Variables that the user set and libfabric does not know: a typing error, or a name of another version.
std::vector<std::string> ignored_of(const std::vector<EnvironmentVariable>& environment) {
    std::vector<std::string> names;
    for (const EnvironmentVariable& variable : environment)
        if (variable.is_required) names.push_back(variable.name);
    return ignored_variables(names, variables_told());
}

std::string ignored_words(const std::vector<std::string>& names) {
    return fmt::format("libfabric {} does not know {}: setting {} changes nothing", libfabric_version(),
                       fmt::join(names, ", "), names.size() > 1 ? "them" : "it");
}

// The rank that looked at the file, before there was a job, need not be rank 0: ranks may be shuffled.
StoredChoices from_reader(const Job& job, const StoredChoices& mine) {
    const bool has_read = !mine.start.empty();
    std::string words = has_read ? fmt::format("{} {}", mine.start, fmt::join(mine.order, " ")) : "";
    for (std::string& others : job.gather_text(words))
        if (!others.empty()) words = std::move(others);
    job.broadcast_text(words);
    StoredChoices stored;
    std::istringstream stream(words);
    stream >> stored.start;
    for (int index = 0; stream >> index;) stored.order.push_back(index);
    return stored;
}

// A resumed run keeps the order in which the first one was to go, and how its ops started.
std::optional<Start> keep_stored(Plan& plan, const StoredChoices& stored) {
    if (stored.start.empty()) return std::nullopt;
    if (std::is_permutation(stored.order.begin(), stored.order.end(), plan.order.begin(), plan.order.end()))
        plan.order = stored.order;
    for (const Start start : {Start::clock, Start::none})
        if (stored.start == to_string(start)) return start;
    return Start::barrier;
}

// A file may be another one on another node, and a power have another last digit there.
void agree_on_traffic(const Job& job, const Plan& plan) {
    std::uint64_t digest = 0;
    for (const Point& point : plan.points)
        if (point.traffic) digest = mix64(digest ^ point.traffic->digest());
    const auto mine = static_cast<std::int64_t>(digest >> 1U);
    if (job.min(mine) != job.max(mine))
        throw UsageError("--traffic: not all ranks have the same matrix: a file must be the same on every node");
}

} // namespace

std::string far_words(std::span<const std::string> of_ranks, const std::function<std::string(Rank)>& who) {
    const auto first = std::ranges::find_if(of_ranks, [](const std::string& text) { return !text.empty(); });
    if (first == of_ranks.end()) return {};
    const auto near = std::ranges::count(of_ranks, "");
    const auto more = static_cast<std::int64_t>(of_ranks.size()) - near - 1;
    std::string words = fmt::format("{}: {}", who(static_cast<Rank>(first - of_ranks.begin())), *first);
    if (more > 0)
        words += fmt::format("; {} {} such a warning", counted(more, "more rank"), more > 1 ? "have" : "has");
    return words;
}

ChannelSettings Preparation::channel_settings(const Options& options, const Job& job) const {
    const int ranks = job.ranks();
    ChannelSettings settings{.buffer_bytes = buffer_bytes(plan, budget, ranks),
                             .spare_bytes = largest_message(plan),
                             .memories = memories,
                             .wait = polling.way.polling == Polling::block ? Wait::object : Wait::none,
                             .queue_entries = queue_entries(plan, ranks),
                             .completions = completions(plan),
                             .flags = flag_words(plan, ranks),
                             .classes = workload_of(options).classes_of(options, job.layout(), job.rank())};
    for (const auto& mode : workload_of(options).modes(options))
        if (!choice.refused_modes.contains(mode)) {
            settings.rights.source |= find_mode(mode).rights.source;
            settings.rights.target |= find_mode(mode).rights.target;
        }
    return settings;
}

std::string oversubscription(const Job& job, const std::vector<int>& cores, int threads) {
    std::vector<std::string> nodes;
    for (const auto& ranks_here : job.layout().rank_at()) nodes.push_back(job.host(ranks_here.front()));
    return oversubscription(job.layout(), cores, nodes, threads);
}

std::string why_cores_are_shared(const Job& job, const std::vector<int>& cores, int threads) {
    if (!is_oversubscribed(job.layout(), cores, threads)) return {};
    std::string words = oversubscription(job, cores, threads);
    return words.empty() ? "how many cores the ranks may run on is unknown" : words;
}

std::string why_threads_share(const Job& job, const std::vector<int>& cores, int with_cores, int threads) {
    if (threads <= with_cores) return {};
    std::string words = why_cores_are_shared(job, cores, threads);
    if (!words.empty()) return words;
    return fmt::format("not every rank is known to have a core for each of {}", counted(threads, "thread"));
}

std::string Preparation::why_threads_share(const Job& job, int threads) const {
    return a2aperf::why_threads_share(job, cores_of_nodes, threads_with_cores, threads);
}

Plan plan_within(const MemoryBudget& budget, const Options& options, const Layout& layout,
                 const Workload::Skip& skip) {
    const Workload& workload = workload_of(options);
    Plan plan = workload.plan(options, layout, skip);
    const int asked = workload.most_channels(options);
    const Bytes spare = largest_message(plan);
    const Bytes needed = 2 * buffer_bytes(plan, budget, layout.ranks()) + spare;
    const Bytes room = 2 * budget.per_buffer + spare;
    if (static_cast<Bytes>(most_channels(plan)) * needed <= static_cast<Bytes>(asked) * room) return plan;
    return workload.plan(options, layout, [&](const Point& point) -> std::optional<std::string> {
        if (point.channels > asked)
            return fmt::format("the buffers of {} endpoints have no room in {} a node", point.channels,
                               format_bytes(budget.per_node));
        return skip(point);
    });
}

std::string one_queue_trouble(const Job& job, const Options& options, const ProviderChoice& choice) {
    if (choice.adapters.empty()) return one_queue_trouble(job, choice.offer);
    return fmt::format("--nic {}: endpoints with one queue have one domain, and so one adapter", options.nic);
}

// Those that were asked for and are not lacking; where all are lacking, all: each point says why.
std::vector<const MemoryKind*> memories_but(const std::map<std::string, std::string>& lacking,
                                            const std::vector<std::string>& asked) {
    std::vector<const MemoryKind*> memories;
    for (const std::string& kind : asked)
        if (!lacking.contains(kind) || lacking.size() == asked.size()) memories.push_back(&find_memory(kind));
    return memories;
}

Preparation prepare(const Job& job, const Options& options, const StoredChoices& stored, StartTimes& start_times) {
    const Workload& workload = workload_of(options);
    const auto demands = workload.most_ticks(options, job.ranks()) > 0 ? flow_demands() : mode_demands();
    const std::string nic = workload.nic_of(options, job.rank(), job.ranks());
    const std::optional<std::string> no_delay = set_no_delay(workload.classes(options));
    ProviderChoice choice =
        choose_provider(job, {options.provider, nic, workload.modes(options), demands, mpi_uses_libfabric()});
    if (no_delay && find_provider(choice.offer.provider()).network == "TCP")
        choice.environment.push_back(*no_delay);
    if (workload.shares_queues(options)) choice.one_queue_trouble = one_queue_trouble(job, options, choice);
    start_times.end(StartPhase::provider);
    const auto lacking = lacking_memories(job, options.memories);
    std::vector<const MemoryKind*> memories = memories_but(lacking, options.memories);
    const MemoryBudget budget = memory_budget(
        job, memories, options.memory_limit, workload.message_sizes(options, job.layout()),
        workload.sample_bytes(options, job.ranks()), static_cast<Bytes>(workload.most_channels(options)));
    auto cores = cores_of_nodes(job, choice.here);
    NodeCores node_cores = cores_of_node(job, choice.here);
    const int with_cores = threads_with_cores(job, node_cores);
    const auto why_threads = [&](int threads) { return why_threads_share(job, cores, with_cores, threads); };
    std::string shared_cores = why_cores_are_shared(job, cores, 1);
    EndpointRoom room(job, choice, std::max(most_usual_endpoints(), workload.most_channels(options)));
    const auto why_not = [&](const Point& point) -> std::optional<std::string> {
        if (auto why = usual_poll_trouble(options, point, shared_cores)) return why;
        if (auto why = usual_threads_trouble(options, point, why_threads)) return why;
        const auto missing = lacking.find(point.memory.empty() ? options.memories.front() : point.memory);
        if (missing != lacking.end()) return missing->second;
        if (auto why = fabric_skip_reason(point, choice, job.layout())) return why;
        if (auto why = room.trouble(point)) return why;
        for (const Offer& offer : choice.offers())
            if (auto why = workload.trouble(offer, point)) return why;
        return memory_skip_reason(point, budget, job.ranks());
    };
    std::vector<PointSkip> found;
    const auto skip = [&](const Point& point) {
        auto why = why_not(point);
        found.push_back({point.label(), why.value_or("")});
        return why;
    };
    Plan plan = plan_within(budget, options, job.layout(), skip);
    // All points poll as the one with the most threads lets them.
    if (shared_cores.empty() && most_threads(plan) > 1) {
        shared_cores = why_cores_are_shared(job, cores, most_threads(plan));
        if (!shared_cores.empty()) {
            found.clear();
            plan = plan_within(budget, options, job.layout(), skip);
        }
    }
    if (room.is_too_small_for(channel_counts(plan))) {
        found.clear();
        plan = plan_within(budget, options, job.layout(), skip);
    }
    require_same_skips(job, found, choice.offer.domain());
    agree_on_traffic(job, plan);
    deal_adapters(choice, job.layout().local_index(job.rank()),
                  workload.deals_peers() ? channel_counts(plan).own : 1);
    choice.nic_choice.warning =
        far_words(job.gather_text(choice.nic_choice.warning), [&](Rank rank) { return job.who(rank); });
    const auto stored_start = keep_stored(plan, from_reader(job, stored));
    PollingChoice polling =
        choose_polling(options.polls.front(), is_oversubscribed(job.layout(), cores, most_threads(plan)));
    // After the provider's own variables are set: they are part of what was measured.
    auto environment = agree_on_environment(job, options.required_environment, choice.environment);
    auto ignored = ignored_of(environment);
    if (!ignored.empty()) choice.warnings.push_back(ignored_words(ignored));
    if (plan.order.empty()) throw NothingToMeasure(why_all_skipped(plan));
    start_times.end(StartPhase::plan);
    return {std::move(choice),     budget,     std::move(plan),    stored_start,           std::move(cores),
            std::move(node_cores), with_cores, std::move(polling), std::move(environment), std::move(ignored),
            std::move(memories)};
}

} // namespace a2aperf
