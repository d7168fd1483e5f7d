// SPDX-License-Identifier: BSD-3-Clause
// --dry-run: what a launch of this size would measure, how much memory it takes and about how long, without MPI
// and without a fabric.
#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "a2aperf/base/error.hpp"
#include "a2aperf/base/terminal.hpp"
#include "a2aperf/fabric/memory.hpp"
#include "a2aperf/job/launcher.hpp"
#include "a2aperf/measure/memory_budget.hpp"
#include "a2aperf/measure/setup.hpp"
#include "commands.hpp"
#include "estimate.hpp"
#include "preparation.hpp"
#include "workload.hpp"

namespace a2aperf {
namespace {

Layout layout_of(const Options& options) {
    const auto ranks = options.ranks ? options.ranks : launched_ranks();
    if (!ranks) throw UsageError("--dry-run needs --ranks N when it is not launched by MPI");
    if (const int least = workload_of(options).least_ranks(options); *ranks < least)
        throw UsageError(fmt::format("--dry-run needs at least {} ranks: give --ranks {} or more", least, least));
    const int per_node = options.ranks_per_node.value_or(*ranks);
    if (per_node > *ranks)
        throw UsageError(fmt::format("--ranks-per-node {} is more than --ranks {}", per_node, *ranks));
    return Layout::blocks(*ranks, per_node);
}

} // namespace

int run_dry(const Options& options) {
    const Layout layout = layout_of(options);
    if (launched_rank().value_or(0) != 0) return 0; // one of them prints

    const auto per_node = static_cast<Bytes>(layout.ranks_on_node().front());
    const Workload& workload = workload_of(options);
    (void)workload.nic_of(options, 0, layout.ranks()); // refuses what a launch would
    std::vector<const MemoryKind*> memories;
    for (const std::string& kind : options.memories) memories.push_back(&find_memory(kind));
    const Bytes limit = options.memory_limit.value_or(memory_of_node(memories).available / 2);
    const auto make_budget = options.memory_limit ? budget_of : usual_budget;
    const MemoryBudget budget = make_budget(beside_samples(limit, workload.sample_bytes(options, layout.ranks())),
                                            per_node, workload.message_sizes(options, layout),
                                            memories.size() * static_cast<Bytes>(workload.most_channels(options)));
    const Plan plan = plan_within(budget, options, layout, [&](const Point& point) {
        return memory_skip_reason(point, budget, layout.ranks());
    });
    const auto at_once = static_cast<Bytes>(workload.messages_at_once(layout.ranks()));
    Bytes wanted = 0;
    for (const Point& point : plan.points)
        if (!point.is_skipped())
            wanted = std::max(wanted, point.has_own_places() ? point.buffer_bytes(layout.ranks())
                                                             : point.largest_message() * at_once);
    const Bytes buffer = buffer_bytes(plan, budget, layout.ranks());
    const auto measured = std::count_if(plan.order.begin(), plan.order.end(), [&](int index) {
        return plan.points[static_cast<std::size_t>(index)].is_counted();
    });
    say(fmt::format("{} on {}, up to {} per node; {} to measure:\n{}", counted(layout.ranks(), "rank"),
                    counted(layout.nodes(), "node"), per_node, counted(measured, "point"),
                    workload.describe(plan, options, layout.ranks())));
    if (plan.order.empty()) throw NothingToMeasure(why_all_skipped(plan));
    // With the room for one that should not come.
    const Bytes per_rank =
        memories.size() * static_cast<Bytes>(most_channels(plan)) * (2 * buffer + largest_message(plan));
    say(fmt::format(
        "message buffers: {} per rank, {} per node{}\n", format_bytes(per_rank), format_bytes(per_rank * per_node),
        wanted <= buffer ? ""
        : options.memory_limit
            ? "; several peers share a buffer to stay below --memory-limit"
            : "; several peers share a buffer, as no --memory-limit says how much memory a node may use"));
    say(workload.own_room(plan, options, layout));
    say(fmt::format("time: about {} if a message costs 4 us and a rank moves 5 GB/s\n",
                    format_estimate(estimated_time(plan, options, layout.ranks()))));
    return 0;
}

} // namespace a2aperf
