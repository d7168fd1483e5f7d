// SPDX-License-Identifier: BSD-3-Clause
// Modes that are known to move more than one that a launch measured. One row each.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "a2aperf/record/table.hpp"

namespace a2aperf {

// What is known of this provider (libfabric's full name, "tcp;ofi_rxm") to be faster than what these points
// measured, with the figure, where the launch has not measured it at their sizes. A line each; none where nothing
// is known.
std::vector<std::string> known_to_be_faster(std::string_view provider, const std::vector<Row>& rows);

} // namespace a2aperf
