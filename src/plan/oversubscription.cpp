// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/plan/oversubscription.hpp"

#include "a2aperf/base/units.hpp"

namespace a2aperf {

std::string oversubscription(const Layout& layout, const std::vector<int>& cores,
                             const std::vector<std::string>& nodes, int threads) {
    std::size_t worst = 0;
    double most = 1; // threads on a core
    int count = 0;
    for (std::size_t node = 0; node < cores.size(); ++node) {
        if (cores[node] <= 0) continue;
        const double on_core = static_cast<double>(layout.ranks_on_node()[node]) * threads / cores[node];
        if (on_core > 1) ++count;
        if (on_core <= most) continue;
        most = on_core;
        worst = node;
    }
    if (count == 0) return {};
    std::string words = "oversubscribed: " + (threads > 1 ? counted(threads, "thread") + " each of " : "") +
                        counted(layout.ranks_on_node()[worst], "rank") + " on " + counted(cores[worst], "core");
    if (layout.nodes() == 1) return words;
    return words + " of " + nodes[worst] + " (" + std::to_string(count) + " of " + counted(layout.nodes(), "node") +
           ")";
}

} // namespace a2aperf
