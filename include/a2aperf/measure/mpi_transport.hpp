// SPDX-License-Identifier: BSD-3-Clause
// Over what MPI's own messages go, which are the baseline's.
#pragma once

#include <string>
#include <string_view>

namespace a2aperf {

// Does MPI itself use libfabric, as far as its settings tell?
bool mpi_uses_libfabric();

// How Open MPI moves the baseline, from its settings; says so where that is another network than the provider's.
std::string baseline_transport(std::string_view provider, bool spans_hosts);

} // namespace a2aperf
