// SPDX-License-Identifier: BSD-3-Clause
#include "thread_cpus.hpp"

#include "a2aperf/fabric/locality.hpp"

namespace a2aperf {

std::vector<int> cpus_for_threads(const std::vector<int>& cpus, const ThreadsOnNode& node, int threads) {
    const int first = node.is_bound ? 0 : threads * node.local_index;
    const int needed = node.is_bound ? threads : threads * node.ranks;
    if (std::ssize(cpus) < needed) return {};
    return {cpus.begin() + first, cpus.begin() + first + threads};
}

std::vector<int> cpus_for_threads(const Job& job, int threads) {
    // As they were before any thread was put somewhere.
    static const std::vector<int> cpus = cpus_of_cores();
    static const int machine_cores = this_locality().machine_cores;
    const auto node = static_cast<std::size_t>(job.layout().node_of(job.rank()));
    return cpus_for_threads(cpus,
                            {.is_bound = static_cast<int>(std::ssize(cpus)) < machine_cores,
                             .ranks = job.layout().ranks_on_node()[node],
                             .local_index = job.layout().local_index(job.rank())},
                            threads);
}

} // namespace a2aperf
