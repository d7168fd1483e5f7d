// SPDX-License-Identifier: BSD-3-Clause
// --config FILE: TOML or INI, one key for every long option.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "a2aperf/config/workload_row.hpp"

namespace a2aperf {

// Values as they were given, by option; a flag that is set has an empty list.
using GivenOptions = std::map<const OptionRow*, std::vector<std::string>>;

// Throws UsageError, beginning with the file's name: not readable, an unknown key or one of another workload, a
// section, a flag that is neither true nor false.
GivenOptions read_config_file(const std::string& file, const WorkloadRow& workload, const Catalogue& catalogue);

} // namespace a2aperf
