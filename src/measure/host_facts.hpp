// SPDX-License-Identifier: BSD-3-Clause
// What a machine says of itself.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "a2aperf/base/units.hpp"
#include "a2aperf/fabric/nic.hpp"
#include "a2aperf/fabric/verbs_device.hpp"

namespace a2aperf {

// Facts of this node by name (docs/file-format.md, node_facts), in a fixed order; empty = unknown.
// root: where /sys and /proc are, for how the node and its adapter are set now; verbs: the library that is asked of
// an RDMA device.
std::vector<std::pair<std::string, std::string>> node_facts(const NicFacts& nic, int cores_usable,
                                                            const std::string& root = "",
                                                            const std::string& verbs = kVerbsLibrary);

// Whether a fact is one of RDMA devices, which a launch without any does not have.
bool is_fact_of_rdma(std::string_view name);

} // namespace a2aperf
