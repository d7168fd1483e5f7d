// SPDX-License-Identifier: BSD-3-Clause
// What the command line offers by name; the tables live in their layers and are passed in.
#pragma once

#include <string>
#include <vector>

namespace a2aperf {

struct WorkloadRow;

struct Catalogue {
    std::vector<std::string> providers; // without "auto"
    std::vector<std::string> modes;
    std::vector<std::string> memories;
    std::vector<const WorkloadRow*> workloads; // the first one's page is the program's own
};

} // namespace a2aperf
