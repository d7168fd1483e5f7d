// SPDX-License-Identifier: BSD-3-Clause
// On which CPUs the threads of a rank run.
#pragma once

#include <vector>

#include "a2aperf/job/job.hpp"

namespace a2aperf {

// Of the ranks of a node, and of one of them.
struct ThreadsOnNode {
    bool is_bound;   // each rank to cores of its own; else all may run on all of the node
    int ranks;       // of the node
    int local_index; // of the rank
};

// A CPU, each of another core, for so many threads: of those of the rank, or, where all ranks may run on all of the
// node, of its share. None where there are not enough: then the system places the threads.
std::vector<int> cpus_for_threads(const std::vector<int>& cpus, const ThreadsOnNode& node, int threads);
// Of this rank.
std::vector<int> cpus_for_threads(const Job& job, int threads);

} // namespace a2aperf
