// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/measure/thread_cpus.hpp"

#include <algorithm>
#include <set>
#include <sstream>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace a2aperf {
namespace {

// Ranks that a core connects with this one, directly or by others, itself among them; by local index.
std::set<std::size_t> neighbours(const NodeCores& node) {
    std::set<std::size_t> group{static_cast<std::size_t>(node.local_index)};
    std::set<int> cores;
    for (std::size_t before = 0; before < group.size();) {
        before = group.size();
        for (const std::size_t rank : group) cores.insert(node.of_ranks[rank].begin(), node.of_ranks[rank].end());
        for (std::size_t rank = 0; rank < node.of_ranks.size(); ++rank)
            if (std::ranges::any_of(node.of_ranks[rank], [&](int core) { return cores.contains(core); }))
                group.insert(rank);
    }
    return group;
}

} // namespace

NodeCores cores_of_node(const Job& job, const Locality& here) {
    const auto texts = job.all_gather_text(fmt::format("{}", fmt::join(here.cores, " ")));
    NodeCores node{.of_ranks = {}, .local_index = job.layout().local_index(job.rank()), .cpus = cpus_of_cores()};
    const auto here_at = static_cast<std::size_t>(job.layout().node_of(job.rank()));
    for (const Rank rank : job.layout().rank_at()[here_at]) {
        std::istringstream words(texts[static_cast<std::size_t>(rank)]);
        std::vector<int>& cores = node.of_ranks.emplace_back();
        for (int core = 0; words >> core;) cores.push_back(core);
    }
    return node;
}

// Who may run on fewer cores takes first: of what lies in one another each rank then has enough where all can.
std::vector<int> cpus_for_threads(const NodeCores* known, int threads) {
    if (known == nullptr) return {};
    const NodeCores& node = *known;
    const auto self = static_cast<std::size_t>(node.local_index);
    if (self >= node.of_ranks.size() || node.cpus.size() != node.of_ranks[self].size()) return {};
    std::vector<std::tuple<std::size_t, std::size_t>> order; // cores, rank
    for (const std::size_t rank : neighbours(node)) order.emplace_back(node.of_ranks[rank].size(), rank);
    std::ranges::sort(order);
    std::set<int> taken;
    std::vector<int> cpus;
    for (const auto& [count, rank] : order) {
        int left = threads;
        for (std::size_t i = 0; i < count && left > 0; ++i) {
            if (!taken.insert(node.of_ranks[rank][i]).second) continue;
            --left;
            if (rank == self) cpus.push_back(node.cpus[i]);
        }
        if (left > 0) return {};
    }
    return cpus;
}

int threads_with_cores(const Job& job, const NodeCores& node) {
    int mine = 0;
    while (!cpus_for_threads(&node, mine + 1).empty()) ++mine;
    return static_cast<int>(job.min(mine));
}

} // namespace a2aperf
