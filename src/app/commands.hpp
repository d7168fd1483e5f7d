// SPDX-License-Identifier: BSD-3-Clause
// The commands of the program, each returning the exit status.
#pragma once

#include "a2aperf/config/command_line.hpp"
#include "a2aperf/config/options.hpp"

namespace a2aperf {

// A workload: all ranks of an MPI launch run this. Throws UsageError before MPI is started; afterwards it
// reports itself.
int run_launch(int argc, char** argv, const Options& options);

// --dry-run: the plan, memory and time, without MPI.
int run_dry(const Options& options);

// The table of providers on this node; what they, the devices and the node say of themselves, too; or variables.
int run_providers(ProvidersPage page);

} // namespace a2aperf
