// SPDX-License-Identifier: BSD-3-Clause
// How a port divides itself among classes of service, in the words of the program that tells it.
#pragma once

#include <string>

#include "a2aperf/fabric/nic.hpp"
#include "a2aperf/job/job.hpp"
#include "a2aperf/result/provenance.hpp"

namespace a2aperf {

// Of an interface `tc qdisc`, `tc class` and `tc filter`, of a port of InfiniBand `smpquery SL2VL`, `smpquery
// VLArb` and `smpquery PI`, each behind its command line. Empty where one of them says nothing in time. root: of
// /sys.
std::string port_arbitration(const NicFacts& nic, const std::string& root = "");

// Of the adapter of each node's first rank, as the fact nic_arbitration, where any node has it. One node alone has
// none: what its ranks send one another does not leave it. Collective.
void collect_arbitration(const Job& job, const NicFacts& nic, Provenance& provenance);

} // namespace a2aperf
