// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/measure/memory_budget.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "a2aperf/base/error.hpp"
#include "a2aperf/measure/mode_table.hpp"

namespace a2aperf {
namespace {

constexpr Bytes kUsualBuffers = Bytes{2} << 30; // of a node, without a limit of the user's

bool has_place_per_peer(const Point& point) {
    return point.is_baseline() || std::ranges::any_of(point.by_modes(), [](const Point& one) {
               return find_mode(one.mode).receive_space == ReceiveSpace::per_peer;
           });
}

Bytes buffer_of(const Point& point, const MemoryBudget& budget, int ranks) {
    const Bytes all = point.buffer_bytes(ranks);
    if (point.has_own_places() || point.is_duration() || has_place_per_peer(point)) return all;
    return std::min(all, std::max({budget.ample, point.largest_message(), point.place_bytes()}));
}

// Of points that have them.
std::optional<std::string> own_places_skip_reason(const Point& point, const MemoryBudget& budget, int ranks) {
    const Bytes needed = point.buffer_bytes(ranks);
    if (needed > budget.per_buffer)
        return fmt::format("the messages of one rank need {} in each direction and --memory-limit leaves {}",
                           format_bytes(needed), format_bytes(budget.per_buffer));
    if (point.largest_of_op() <= budget.largest) return std::nullopt;
    return fmt::format("a message of {} needs room in both directions and once more, and --memory-limit leaves {}",
                       format_bytes(point.largest_of_op()), format_bytes(budget.largest));
}

} // namespace

NodeMemory memory_of_node(std::span<const MemoryKind* const> kinds) {
    NodeMemory least = kinds.front()->of_node();
    for (const MemoryKind* kind : kinds.subspan(1)) {
        const NodeMemory memory = kind->of_node();
        least = {std::min(least.available, memory.available), std::min(least.total, memory.total)};
    }
    return least;
}

std::map<std::string, std::string> lacking_memories(const Job& job, std::span<const std::string> kinds) {
    std::map<std::string, std::string> lacking;
    for (const std::string& kind : kinds) {
        const auto of_ranks = job.all_gather_text(find_memory(kind).lacking());
        const auto found = std::ranges::find_if(of_ranks, [](const std::string& why) { return !why.empty(); });
        if (found == of_ranks.end()) continue;
        const auto rank = static_cast<Rank>(found - of_ranks.begin());
        lacking[kind] = fmt::format("{} has no memory of the kind {}: {}", job.host(rank), kind, *found);
    }
    return lacking;
}

MemoryBudget memory_budget(const Job& job, std::span<const MemoryKind* const> kinds, std::optional<Bytes> limit,
                           std::span<const Bytes> sizes, Bytes samples, Bytes channels) {
    const NodeMemory memory = memory_of_node(kinds);
    const auto total = static_cast<Bytes>(job.min(static_cast<std::int64_t>(memory.total)));
    const auto available = static_cast<Bytes>(job.min(static_cast<std::int64_t>(memory.available)));
    if (limit && *limit > total)
        throw UsageError(
            fmt::format("--memory-limit {} is more than a node has ({}): leave it out for half of the free "
                        "memory",
                        format_bytes(*limit), format_bytes(total)));
    const auto& on_node = job.layout().ranks_on_node();
    const auto most = static_cast<Bytes>(*std::max_element(on_node.begin(), on_node.end()));
    const Bytes per_node = limit.value_or(available / 2);
    const Bytes messages = beside_samples(per_node, samples);
    MemoryBudget budget = limit ? budget_of(messages, most, sizes, kinds.size() * channels)
                                : usual_budget(messages, most, sizes, kinds.size() * channels);
    budget.per_node = per_node;
    return budget;
}

Bytes beside_samples(Bytes per_node, Bytes samples) {
    if (samples < per_node) return per_node - samples;
    throw UsageError(
        fmt::format("the samples of one point can take {} on rank 0, and --memory-limit leaves {}: keep "
                    "fewer (--max-samples)",
                    format_bytes(samples), format_bytes(per_node)));
}

// Behind the receive buffer there is room for a message that should not come, of the largest size that fits three
// times: in both buffers and there.
MemoryBudget budget_of(Bytes per_node, Bytes ranks_per_node, std::span<const Bytes> sizes, Bytes kinds) {
    const Bytes per_rank = per_node / ranks_per_node / kinds;
    const Bytes largest = per_rank / 3;
    Bytes spare = 0;
    for (const Bytes size : sizes)
        if (size <= largest) spare = std::max(spare, size);
    const Bytes per_buffer = (per_rank - spare) / 2;
    return {.per_node = per_node, .per_buffer = per_buffer, .largest = largest, .ample = per_buffer};
}

MemoryBudget usual_budget(Bytes per_node, Bytes ranks_per_node, std::span<const Bytes> sizes, Bytes kinds) {
    MemoryBudget budget = budget_of(per_node, ranks_per_node, sizes, kinds);
    const Bytes shared = std::min(per_node, kUsualBuffers);
    budget.ample = budget_of(shared, ranks_per_node, sizes, kinds).per_buffer;
    return budget;
}

std::optional<std::string> memory_skip_reason(const Point& point, const MemoryBudget& budget, int ranks) {
    if (point.is_duration()) {
        // The room behind the receive buffer is that of a message of the point's size, see budget_of().
        const Bytes larger = point.other_size() > point.message_size ? point.other_size() : 0;
        if (const Bytes needed = point.flow->bytes(point) + larger; needed > budget.per_buffer)
            return fmt::format("{} need {} in each direction and --memory-limit leaves {}",
                               point.flow->in_buffers(point), format_bytes(needed),
                               format_bytes(budget.per_buffer));
    }
    if (point.has_own_places()) return own_places_skip_reason(point, budget, ranks);
    const Bytes all = point.place_bytes() * static_cast<Bytes>(ranks);
    // A duration's verification takes as many rounds as it needs, with one place in each.
    const bool needs_all = !point.is_duration() && has_place_per_peer(point) && point.messages_per_rank(ranks) > 1;
    const Bytes needed = needs_all ? all : point.place_bytes();
    const Bytes room = needs_all ? budget.per_buffer : budget.largest;
    if (needed <= room) return std::nullopt;
    return fmt::format("{} needs {}{} of receive space and --memory-limit leaves {}",
                       point.is_baseline() ? "MPI_Alltoall" : point.mode, needs_all ? "R x B = " : "",
                       format_bytes(needed), format_bytes(room));
}

Bytes largest_message(const Plan& plan) {
    Bytes largest = 0;
    for (const Point& point : plan.points)
        if (!point.is_skipped()) largest = std::max(largest, point.largest_message());
    return largest;
}

Bytes buffer_bytes(const Plan& plan, const MemoryBudget& budget, int ranks) {
    Bytes most = 0;
    for (const Point& point : plan.points)
        if (!point.is_skipped()) most = std::max(most, buffer_of(point, budget, ranks));
    return std::min(most, budget.per_buffer);
}

std::string usual_sharing(const Plan& plan, const MemoryBudget& budget, int ranks) {
    MemoryBudget all = budget;
    all.ample = budget.per_buffer;
    const Bytes buffer = buffer_bytes(plan, budget, ranks);
    if (buffer == buffer_bytes(plan, all, ranks)) return {};
    Bytes largest = 0; // of those that may share
    for (const Point& point : plan.points)
        if (!point.is_skipped() && !point.forwarding) largest = std::max(largest, point.largest_message());
    const auto peers = static_cast<Bytes>(ranks) - 1;
    const Bytes places = buffer / largest;
    if (places >= peers) return {};
    return fmt::format(
        "the {} messages of {} B that a rank has at a time share {}, as no --memory-limit says how much "
        "memory a node may use",
        peers, largest, counted(places, "place"));
}

} // namespace a2aperf
