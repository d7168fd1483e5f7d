// SPDX-License-Identifier: BSD-3-Clause
// What a device says of itself beyond what a launch keeps of it: its ports, queues and interrupts.
#pragma once

#include <string>
#include <vector>

#include "a2aperf/fabric/detail.hpp"
#include "a2aperf/fabric/nic.hpp"
#include "a2aperf/fabric/verbs_device.hpp"

namespace a2aperf {

// root: where /sys and /proc are; verbs: the library that is asked of an RDMA device.
std::vector<Detail> nic_details(const NicFacts& nic, const std::string& root = "",
                                const std::string& verbs = kVerbsLibrary);

} // namespace a2aperf
