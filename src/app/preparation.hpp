// SPDX-License-Identifier: BSD-3-Clause
// What a launch decides before it opens anything, each the same on all ranks.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "a2aperf/config/options.hpp"
#include "a2aperf/fabric/provider_choice.hpp"
#include "a2aperf/job/job.hpp"
#include "a2aperf/measure/channels.hpp"
#include "a2aperf/measure/memory_budget.hpp"
#include "a2aperf/measure/setup.hpp"
#include "a2aperf/measure/thread_cpus.hpp"
#include "a2aperf/plan/plan.hpp"
#include "a2aperf/record/recorder.hpp"
#include "a2aperf/result/provenance.hpp"
#include "a2aperf/result/start_times.hpp"
#include "workload.hpp"

namespace a2aperf {

struct Preparation {
    ProviderChoice choice;
    MemoryBudget budget;
    Plan plan;
    std::optional<Start> stored_start; // of the launch that this one goes on with
    std::vector<int> cores_of_nodes;   // [N], that the ranks there may run on
    NodeCores node_cores;              // of this node
    int threads_with_cores;            // that each rank can have with a core for each of them
    PollingChoice polling;
    std::vector<EnvironmentVariable> environment;
    std::vector<std::string> ignored;        // of its variables those that libfabric does not know
    std::vector<const MemoryKind*> memories; // those of the launch that every node has

    std::string provider() const { return choice.offer.provider(); } // its full name
    bool is_oversubscribed(const Layout& layout) const {
        return a2aperf::is_oversubscribed(layout, cores_of_nodes, most_threads(plan));
    }
    // Why so many threads of each rank would not all have a core, in words; empty where they have.
    std::string why_threads_share(const Job& job, int threads) const;
    ChannelSettings channel_settings(const Options& options, const Job& job) const;
};

// stored: what an earlier launch chose, on the rank that looked at its file. Collective. Throws UsageError and
// NothingToMeasure on all ranks alike.
Preparation prepare(const Job& job, const Options& options, const StoredChoices& stored, StartTimes& start_times);

// Of ranks that are not near an adapter, or may not be, the first one's words and how many more have some.
// of_ranks: [R]; empty = near.
std::string far_words(std::span<const std::string> of_ranks, const std::function<std::string(Rank)>& who);

// In words; empty where every thread has a core. cores: of each node, [N].
std::string oversubscription(const Job& job, const std::vector<int>& cores, int threads);

// Why ranks that spin would mislead, in words; empty where they would not. As above.
std::string why_cores_are_shared(const Job& job, const std::vector<int>& cores, int threads);

// Why not all of so many threads of each rank have a core. with_cores: of how many threads a rank all have one, by
// where each rank may run.
std::string why_threads_share(const Job& job, const std::vector<int>& cores, int with_cores, int threads);

// The workload's. It opens more endpoints than it was asked for only where the buffers of all have room.
Plan plan_within(const MemoryBudget& budget, const Options& options, const Layout& layout,
                 const Workload::Skip& skip);

} // namespace a2aperf
