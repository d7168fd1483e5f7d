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

// The names of those that providers have told so far, ascending; nothing is asked of them for it.
std::vector<std::string> variables_told();

// Those of `names` that libfabric does not know though it knows others that begin alike, FI_TCP_* or FI_OFI_RXM_*:
// who sets them changes nothing. Nothing is said of a provider that it has not loaded, nor of those that are known
// to read more than they tell.
std::vector<std::string> ignored_variables(const std::vector<std::string>& names,
                                           const std::vector<std::string>& told);

} // namespace a2aperf
