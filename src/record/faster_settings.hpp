// SPDX-License-Identifier: BSD-3-Clause
// Whether another setting moved more than the first of the sweep.
#pragma once

#include <string>
#include <vector>

#include "a2aperf/record/table.hpp"

namespace a2aperf {

// For each other mode, schedule, window, chunk, number of endpoints and way to poll that was faster somewhere,
// where all else was the same: "write-imm was faster than tagged at 5 of 8 points, most at 65536 B: 2.03 times as
// fast; slower at 1". Faster is where the 95 % intervals of the medians are apart, and the medians by a tenth at
// least. Points are measured one after the other: it is what was seen, and no cause. Each traffic is one's own.
std::vector<std::string> faster_settings(const Rows& measured);

} // namespace a2aperf
