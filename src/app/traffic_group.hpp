// SPDX-License-Identifier: BSD-3-Clause
// What the file keeps of traffic that is not uniform: /matrices.
#pragma once

#include <optional>

#include "a2aperf/plan/plan.hpp"
#include "a2aperf/record/recorder.hpp"

namespace a2aperf {

// Nothing where all traffic is uniform.
std::optional<GroupDeclaration> traffic_group(const Plan& plan, int ranks);
void write_traffic(Recorder& recorder, const Plan& plan);

} // namespace a2aperf
