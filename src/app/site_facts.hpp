// SPDX-License-Identifier: BSD-3-Clause
// What a site knows of its nodes and a job cannot read, such as their cables: each node has it in a file.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "a2aperf/job/job.hpp"

namespace a2aperf {

using FactsOfNodes = std::map<std::string, std::vector<std::string>>; // "site_" and its name -> [N], empty: unknown

// One fact from each line NAME=VALUE of the nodes' texts; empty lines and those that begin with '#' say nothing.
// Throws UsageError that names the node and the line: no such line, a name twice, more than 64 names in all.
FactsOfNodes facts_of_nodes(const std::vector<std::string>& nodes, const std::vector<std::string>& texts);

// Of the file that each node has under this path; nothing is known of a node without it. Collective; the facts are
// rank 0's. Throws UsageError on all ranks alike: as above, no node has it, it cannot be read, is not text, is
// larger than 16 KiB.
FactsOfNodes read_site_facts(const Job& job, const std::filesystem::path& file);

} // namespace a2aperf
