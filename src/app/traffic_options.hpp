// SPDX-License-Identifier: BSD-3-Clause
// What --traffic asks for.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "a2aperf/plan/traffic_pattern.hpp"

namespace a2aperf {

// Lists: items separated by commas, in one text or several; doubles are dropped. Files are read. Throws UsageError.
std::vector<TrafficPattern> read_traffic(std::span<const std::string> values);

// Throws UsageError where --redraw and --traffic don't go together.
void check_redraw(std::span<const TrafficPattern> patterns, bool redraws);

} // namespace a2aperf
