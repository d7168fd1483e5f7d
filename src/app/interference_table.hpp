// SPDX-License-Identifier: BSD-3-Clause
// What a launch of interference shows.
#pragma once

#include <memory>
#include <string>

#include "duration_workload.hpp"

namespace a2aperf {

// title: of its first line.
std::unique_ptr<DurationTable> make_interference_table(std::string title, bool tells_memory);

} // namespace a2aperf
