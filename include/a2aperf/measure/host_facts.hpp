// SPDX-License-Identifier: BSD-3-Clause
// What a machine says of itself.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "a2aperf/base/units.hpp"
#include "a2aperf/fabric/nic.hpp"

namespace a2aperf {

// Facts of this node by name (docs/file-format.md, node_facts), in a fixed order; empty = unknown.
// root: where /sys and /proc are, for how the node and its adapter are set now.
std::vector<std::pair<std::string, std::string>> node_facts(const NicFacts& nic, int cores_usable,
                                                            const std::string& root = "");

} // namespace a2aperf
