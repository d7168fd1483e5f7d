// SPDX-License-Identifier: BSD-3-Clause
// How this machine is set now, as far as it bears on messages.
#pragma once

#include <string>
#include <vector>

#include "a2aperf/fabric/detail.hpp"

namespace a2aperf {

// root: where /sys and /proc are.
std::vector<Detail> host_state(const std::string& root = "");

} // namespace a2aperf
