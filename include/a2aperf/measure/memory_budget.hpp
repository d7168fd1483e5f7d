// SPDX-License-Identifier: BSD-3-Clause
// How much memory of a node messages may take, which points it forbids, and what the others need of it.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>

#include "a2aperf/fabric/memory.hpp"
#include "a2aperf/job/job.hpp"
#include "a2aperf/plan/plan.hpp"

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

// Bytes of one message buffer: the messages that the largest op has at a time, within the budget.
Bytes buffer_bytes(const Plan& plan, const MemoryBudget& budget, int ranks);
// That messages share places for want of a limit of the user's, in words; empty where none do.
std::string usual_sharing(const Plan& plan, const MemoryBudget& budget, int ranks);
Bytes largest_message(const Plan& plan);
} // namespace a2aperf
