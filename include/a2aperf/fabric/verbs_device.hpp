// SPDX-License-Identifier: BSD-3-Clause
// What libibverbs says of an RDMA device: its limits, its ports and what its queues take inline, by the names that
// `ibv_devinfo -v` has for them.
#pragma once

#include <string>
#include <vector>

#include "a2aperf/fabric/detail.hpp"

namespace a2aperf {

inline constexpr const char* kVerbsLibrary = "libibverbs.so.1"; // loaded where there is a device to ask for

// "max_qp", …, "max_inline_data"; then of each port, the first eight at the most, "port 1 max_mtu", …. One without
// a value, that says why, where the device cannot be asked.
std::vector<Detail> verbs_details(const std::string& device, const std::string& library = kVerbsLibrary);

} // namespace a2aperf
