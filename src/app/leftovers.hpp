// SPDX-License-Identifier: BSD-3-Clause
// What killed launches left behind on this launch's nodes.
#pragma once

#include "a2aperf/fabric/segment.hpp"
#include "a2aperf/job/job.hpp"

namespace a2aperf {

// One line for all nodes, where anything was removed. mine: by this rank. Collective.
void tell_removed(const Job& job, const RemovedSegments& mine);

} // namespace a2aperf
