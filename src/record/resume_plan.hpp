// SPDX-License-Identifier: BSD-3-Clause
// The plan of a launch that resumes a file, compared with the rows that stand there.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "a2aperf/plan/layout.hpp"
#include "a2aperf/plan/plan.hpp"
#include "results_file.hpp"

namespace a2aperf {

// UsageError: why the file can't be resumed, and what to do.
[[noreturn]] void refuse_to_resume(const std::filesystem::path& file, const std::string& difference);

// Refuses another number of points or of ranks.
void require_same_extents(const std::filesystem::path& file, const ResultsFile& stored, const Plan& plan,
                          const Layout& layout, const std::string& provider);

// Reasons to skip a point may change with the nodes; what the point is may not. Returned are the columns in which a
// damaged number of a point that is not measured is not the plan's.
std::vector<std::string> require_same_rows(const std::filesystem::path& file, const ResultsFile& stored,
                                           const ResultsFile::Reliable& kept, const Plan& plan,
                                           const Layout& layout, const std::string& provider);

} // namespace a2aperf
