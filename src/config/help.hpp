// SPDX-License-Identifier: BSD-3-Clause
// What the program says about itself.
#pragma once

#include <string>

#include "a2aperf/config/catalogue.hpp"
#include "a2aperf/config/workload_row.hpp"

namespace a2aperf {

// Of a workload. --help: its common options, with examples; --help-all: every option, by section.
std::string help_text(const Catalogue& catalogue, const WorkloadRow& workload);
std::string help_all_text(const Catalogue& catalogue, const WorkloadRow& workload);
std::string providers_help_text();                 // providers --help
std::string list_text(const Catalogue& catalogue); // --list: providers, modes, schedules with their formula
std::string version_text();                        // --version

} // namespace a2aperf
