// SPDX-License-Identifier: BSD-3-Clause
// What the program says about itself.
#pragma once

#include <string>

#include "a2aperf/config/catalogue.hpp"
#include "a2aperf/config/options.hpp"

namespace a2aperf {

// Of a command that measures. --help: its common options, with examples; --help-all: every option, by
// section.
std::string help_text(const Catalogue& catalogue, Command command = Command::alltoall);
std::string help_all_text(const Catalogue& catalogue, Command command = Command::alltoall);
std::string providers_help_text();                 // providers --help
std::string list_text(const Catalogue& catalogue); // --list: providers, modes, schedules with their formula
std::string version_text();                        // --version

} // namespace a2aperf
