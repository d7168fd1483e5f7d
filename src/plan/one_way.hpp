// SPDX-License-Identifier: BSD-3-Clause
// Traffic of which the time depends on who began first.
#pragma once

#include "a2aperf/plan/traffic_matrix.hpp"

namespace a2aperf {

// Whether a message goes to a rank from which no way leads back. On ways that lead back what ranks begin apart
// cancels out; on others it is in the time of the op, which counts from each rank's own begin where ops start at a
// barrier: one that leaves it after its message came takes no time for it.
bool goes_one_way(const TrafficMatrix& matrix);

} // namespace a2aperf
