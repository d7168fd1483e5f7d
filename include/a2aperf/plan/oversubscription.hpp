// SPDX-License-Identifier: BSD-3-Clause
// More ranks than cores: what every figure of such a launch is to be read with.
#pragma once

#include <string>
#include <vector>

#include "a2aperf/plan/layout.hpp"

namespace a2aperf {

// "oversubscribed: 4 ranks on 2 cores", of several nodes the worst and how many there are: "… on 2 cores of node003
// (3 of 5 nodes)". Empty where every rank has a core to itself. cores: that the ranks of each node may run on
// together, [N]; 0 = unknown, of which nothing is said. nodes: host names, [N]. Where each rank has several
// threads: "oversubscribed: 2 threads each of 4 ranks on 2 cores".
std::string oversubscription(const Layout& layout, const std::vector<int>& cores,
                             const std::vector<std::string>& nodes, int threads = 1);

} // namespace a2aperf
