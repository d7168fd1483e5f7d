// SPDX-License-Identifier: BSD-3-Clause
// --dry-run: what a launch of this size would measure, how much memory it takes and about how long, without MPI
// and without a fabric.
#include <algorithm>
#include <cstdio>

#include <fmt/format.h>

#include "a2aperf/base/error.hpp"
#include "a2aperf/job/launcher.hpp"
#include "a2aperf/measure/host_facts.hpp"
#include "a2aperf/measure/setup.hpp"
#include "axes.hpp"
#include "commands.hpp"

namespace a2aperf {
namespace {

// For planning a job's time limit, and said to be no more: the cost of a message and the payload rate of a rank in
// the 2019 table (20 ranks: 67 us at 1000 B, 284 us at 60 kB).
constexpr double kSecondsPerMessage = 4e-6;
constexpr double kBytesPerSecond = 5e9;
constexpr double kSecondsPerPoint = 0.05;

double estimated_seconds(const Plan& plan, const Options& options, int ranks) {
    const double ops = (options.precision ? options.max_ops : options.ops) + options.warmup + 1;
    double seconds = 0;
    for (const int index : plan.order) {
        const auto size = static_cast<double>(plan.points[static_cast<std::size_t>(index)].message_size);
        const double op = (ranks - 1) * (kSecondsPerMessage + size / kBytesPerSecond);
        double point = ops * op * (options.with_mpi_baseline ? 2 : 1);
        if (options.time_budget) point = std::min(point, static_cast<double>(*options.time_budget) * 1e-9);
        seconds += kSecondsPerPoint + point;
    }
    return seconds;
}

void print_points(const Plan& plan) {
    for (const Point& point : plan.points) {
        if (point.role != Role::measure) continue;
        std::string line = "  " + point.label();
        if (point.partner >= 0) line += ", MPI_Alltoall beside it";
        if (point.is_skipped()) line += fmt::format(", skipped: {}", point.skip_reason);
        std::puts(line.c_str());
    }
}

Layout layout_of(const Options& options) {
    const auto ranks = options.ranks ? options.ranks : launched_ranks();
    if (!ranks) throw UsageError("--dry-run needs --ranks N when it is not launched by MPI");
    if (*ranks < 2) throw UsageError("an all-to-all needs at least 2 ranks: give --ranks 2 or more");
    const int per_node = options.ranks_per_node.value_or(*ranks);
    if (per_node > *ranks)
        throw UsageError(fmt::format("--ranks-per-node {} is more than --ranks {}", per_node, *ranks));
    return Layout::blocks(*ranks, per_node);
}

} // namespace

int run_dry(const Options& options) {
    const Layout layout = layout_of(options);
    if (launched_rank().value_or(0) != 0) return 0; // one of them tells

    const auto ranks = static_cast<Bytes>(layout.ranks());
    const auto per_node = static_cast<Bytes>(layout.ranks_on_node().front());
    const MemoryBudget budget = budget_of(options.memory_limit.value_or(node_memory().available / 2), per_node);
    const Plan plan = make_plan(axes_of(options), layout, [&](const Point& point) {
        return memory_skip_reason(point, budget, layout.ranks());
    });
    const Bytes wanted = largest_message(plan) * ranks;
    const Bytes buffer = buffer_bytes(plan, budget, layout.ranks());
    const auto measured = std::count_if(plan.points.begin(), plan.points.end(), [](const Point& point) {
        return point.role == Role::measure && !point.is_skipped();
    });
    std::printf("%d ranks on %d nodes, up to %d to a node; %ld points to measure:\n", layout.ranks(),
                layout.nodes(), static_cast<int>(per_node), static_cast<long>(measured));
    print_points(plan);
    std::printf("memory for messages: %s a rank, %s a node%s\n", format_bytes(2 * buffer).c_str(),
                format_bytes(2 * buffer * per_node).c_str(),
                wanted > buffer ? "; places are shared by peers to stay under --memory-limit" : "");
    const double seconds = estimated_seconds(plan, options, layout.ranks());
    std::printf("time: about %s if a message costs 4 us and a rank moves 5 GB/s\n",
                format_duration(static_cast<Nanoseconds>(seconds * 1e9)).c_str());
    return 0;
}

} // namespace a2aperf
