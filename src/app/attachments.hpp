// SPDX-License-Identifier: BSD-3-Clause
// Texts of others that are kept with the results: a preflight's findings, the cluster's topology.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "a2aperf/job/job.hpp"

namespace a2aperf {

// File name (without its folders) and whole text of each. Throws UsageError: cannot be read, is not text, larger
// than 16 MiB, a second one of the same name.
std::vector<std::pair<std::string, std::string>> read_attachments(const std::vector<std::filesystem::path>& files);

// The rank that read the texts, before there was a job, need not be the one that writes the file: ranks may be
// shuffled. Collective; afterwards rank 0 has all count of them.
void bring_to_root(const Job& job, std::vector<std::pair<std::string, std::string>>& texts, std::size_t count);

} // namespace a2aperf
