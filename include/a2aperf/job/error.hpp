// SPDX-License-Identifier: BSD-3-Clause
// MPI's return codes as errors that say which call failed.
#pragma once

#include <string_view>

namespace a2aperf {

// Throws RunError when status is an error: "MPI_Ibcast: MPI_ERR_OTHER: known error not in list".
void check_mpi(int status, std::string_view call);

} // namespace a2aperf
