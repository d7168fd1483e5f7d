// SPDX-License-Identifier: BSD-3-Clause
// How long a launch may take, told before it begins.
#pragma once

#include <string>

#include "a2aperf/config/options.hpp"
#include "a2aperf/plan/plan.hpp"

namespace a2aperf {

// For planning a job's time limit, and no more: on a network of 2019, at least.
Nanoseconds estimated_time(const Plan& plan, const Options& options, int ranks);

// "511 of 511 steps x 2 sizes x (2 + 10) ops on 512 ranks".
std::string pair_effort(const Plan& plan, const Options& options, int ranks);

} // namespace a2aperf
