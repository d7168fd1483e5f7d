// SPDX-License-Identifier: BSD-3-Clause
// What a device says of itself beyond what a launch keeps of it: its ports, queues and interrupts.
#pragma once

#include <string>
#include <vector>

#include "a2aperf/fabric/detail.hpp"
#include "a2aperf/fabric/nic.hpp"

namespace a2aperf {

// root: where /sys and /proc are.
std::vector<Detail> nic_details(const NicFacts& nic, const std::string& root = "");

} // namespace a2aperf
