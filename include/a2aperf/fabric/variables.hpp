// SPDX-License-Identifier: BSD-3-Clause
// The environment variables that libfabric and the providers it has loaded read.
#pragma once

#include <string>
#include <vector>

namespace a2aperf {

struct Variable {
    std::string name;  // FI_SHM_TX_SIZE
    std::string value; // in this environment; empty = not set
    std::string about; // the provider's own words, in one line
};

// By name. What a provider reads without telling libfabric is not among them, as all of PSM2_* is not.
std::vector<Variable> library_variables();

} // namespace a2aperf
