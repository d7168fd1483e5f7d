// SPDX-License-Identifier: BSD-3-Clause
// What the launcher's environment says before MPI is started.
#pragma once

#include <optional>

#include "a2aperf/base/units.hpp"

namespace a2aperf {

// The rank that mpirun, srun or another PMI launcher gave this process; nothing when started by hand.
std::optional<Rank> launched_rank();

// The number of ranks the launcher started; nothing when started by hand.
std::optional<int> launched_ranks();

} // namespace a2aperf
