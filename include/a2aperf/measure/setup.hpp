// SPDX-License-Identifier: BSD-3-Clause
// From what the user asked for to a launch that is ready to measure: one decision after another, each of them
// the same on all ranks.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "a2aperf/fabric/provider_choice.hpp"
#include "a2aperf/job/job.hpp"
#include "a2aperf/measure/channel.hpp"
#include "a2aperf/measure/counters.hpp"
#include "a2aperf/measure/start_policy.hpp"
#include "a2aperf/plan/plan.hpp"
#include "a2aperf/result/provenance.hpp"

namespace a2aperf {

// How much memory the two message buffers of a rank may take, and the room for a message that should not come.
struct MemoryBudget {
    Bytes per_node = 0; // smallest over nodes
    Bytes per_buffer = 0;
    Bytes largest = 0; // a message
    // Of a buffer: beyond it messages that may share places do, those of the others have theirs.
    Bytes ample = 0;
};

// Half of the free memory of each node, or the user's limit, without what rank 0 needs for the samples of a point,
// shared by its ranks and by the kinds of memory, which are held at once. Without a limit of the user's, messages
// that may share places share 2 GiB a node. Collective. Throws UsageError when the limit is more than a node has,
// or not even those samples fit.
MemoryBudget memory_budget(const Job& job, std::span<const MemoryKind* const> kinds, std::optional<Bytes> limit,
                           std::span<const Bytes> sizes, Bytes samples, Bytes channels = 1);

// Of these kinds those that a node lacks, by name, with why. Collective.
std::map<std::string, std::string> lacking_memories(const Job& job, std::span<const std::string> kinds);

// What the node has of several kinds, where each is to have as much.
NodeMemory memory_of_node(std::span<const MemoryKind* const> kinds);

// What the samples leave for message buffers. Throws UsageError where they leave nothing.
Bytes beside_samples(Bytes per_node, Bytes samples);

// The same from a limit that is known. sizes: of the messages that are asked for; kinds: of memory.
MemoryBudget budget_of(Bytes per_node, Bytes ranks_per_node, std::span<const Bytes> sizes, Bytes kinds = 1);
// The same where the user gave no limit.
MemoryBudget usual_budget(Bytes per_node, Bytes ranks_per_node, std::span<const Bytes> sizes, Bytes kinds = 1);

// Why memory forbids a point; nothing when it allows it.
std::optional<std::string> memory_skip_reason(const Point& point, const MemoryBudget& budget, int ranks);

// Why the provider forbids it, of what any workload may ask for; what no provider allows is point_trouble().
std::optional<std::string> fabric_skip_reason(const Point& point, const ProviderChoice& choice,
                                              const Layout& layout);

// Bytes of one message buffer: the messages that the largest op has at a time, within the budget.
Bytes buffer_bytes(const Plan& plan, const MemoryBudget& budget, int ranks);
// That messages share places for want of a limit of the user's, in words; empty where none do.
std::string usual_sharing(const Plan& plan, const MemoryBudget& budget, int ranks);
Bytes largest_message(const Plan& plan);
// Entries of a completion queue beyond which no stream of the plan has operations under way.
std::size_t queue_entries(const Plan& plan, int ranks);
// Which its sends put there: all, unless a point leaves some out.
Completions completions(const Plan& plan);
// Words of a rank that its peers write: those of each rank in modes that tell by flags, and of the largest stream
// that moves by writes.
std::size_t flag_words(const Plan& plan, int ranks);
ChannelCounts channel_counts(const Plan& plan);
int most_channels(const Plan& plan); // that a rank opens
int most_threads(const Plan& plan);  // with which a rank drives them

// Does MPI itself use libfabric, as far as its settings tell?
bool mpi_uses_libfabric();

// How Open MPI moves the baseline, from its settings; says so where that is another network than the provider's.
std::string baseline_transport(std::string_view provider, bool spans_hosts);

// Names of the port counters of the adapters in use on any node (given: on this one), in one order for all.
// Collective.
std::vector<std::string> agree_on_port_names(const Job& job, const std::vector<NicFacts>& adapters);

// The facts of all nodes and ranks. Collective; complete on rank 0.
void collect_facts(const Job& job, const ProviderChoice& choice, Provenance& provenance);

} // namespace a2aperf
