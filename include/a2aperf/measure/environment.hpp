// SPDX-License-Identifier: BSD-3-Clause
// The variables that decide results: gathered from every rank, compared, and never assumed.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "a2aperf/job/job.hpp"
#include "a2aperf/result/provenance.hpp"

namespace a2aperf {

enum class Family { none, must_agree, may_differ };

// Which family a variable belongs to; none for everything else and for whatever looks like a credential.
Family family_of(std::string_view name);

// Collective. On rank 0 its variables of all families, each marked whether all ranks have the same value. Throws
// UsageError on all ranks when a variable that must agree does not, or a required NAME=VALUE differs anywhere:
// it says where and what. own: "NAME=VALUE" that this launch has set itself; they bind no launch that resumes it.
std::vector<EnvironmentVariable>
agree_on_environment(const Job& job, const std::vector<std::pair<std::string, std::string>>& required,
                     const std::vector<std::string>& own);

} // namespace a2aperf
