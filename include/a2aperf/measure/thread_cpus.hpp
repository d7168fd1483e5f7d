// SPDX-License-Identifier: BSD-3-Clause
// On which CPUs the threads of a rank run.
#pragma once

#include <vector>

#include "a2aperf/fabric/locality.hpp"
#include "a2aperf/job/job.hpp"

namespace a2aperf {

// Of the ranks of a node, as they were before any thread was put somewhere.
struct NodeCores {
    std::vector<std::vector<int>> of_ranks; // on which each may run, by local index; numbered over the machine
    int local_index = 0;                    // of this rank
    std::vector<int> cpus;                  // of its cores, one of each, in their order
};

// Collective.
NodeCores cores_of_node(const Job& job, const Locality& here);

// A CPU, each of another core, for so many threads of this rank, where all of its node have as many. Ranks that may
// run on the same cores have each its share of them. None where there are not enough for all of these ranks: then
// the system places the threads. node: null where nothing is known.
std::vector<int> cpus_for_threads(const NodeCores* node, int threads);

// How many threads each rank of the launch can have with a core for each of them; 0 where it is unknown.
// Collective.
int threads_with_cores(const Job& job, const NodeCores& node);

} // namespace a2aperf
