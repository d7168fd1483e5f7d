// SPDX-License-Identifier: BSD-3-Clause
// What a launch of interference shows.
#pragma once

#include <memory>
#include <string>

#include "a2aperf/plan/interference_plan.hpp"
#include "duration_workload.hpp"

namespace a2aperf {

// title: of its first line.
std::unique_ptr<DurationTable> make_interference_table(std::string title, VictimKind kind, bool tells_memory);

} // namespace a2aperf
