// SPDX-License-Identifier: BSD-3-Clause
// Successive halving: of the settings that are tried at one message size the faster half goes on, measured
// again, until one is left.
#pragma once

#include <cstddef>
#include <vector>

namespace a2aperf {

struct Trial {
    int point = -1;     // in the plan, at its latest measurement
    double time_ns = 0; // median of its ops; NaN = none was valid
};

// Those that go on, the fastest first: half of them, rounded up, but never all, and none without a time. Of equal
// times the earlier point is taken. Where none has a time the first half goes on: they come in the order of the
// round before.
std::vector<Trial> faster_half(std::vector<Trial> trials);

// Until one of so many is left.
int halvings(std::size_t trials);

} // namespace a2aperf
