// SPDX-License-Identifier: BSD-3-Clause
// The steps of a launch of pairs, from its options.
#pragma once

#include <string>

#include "a2aperf/config/options.hpp"
#include "a2aperf/plan/pair_plan.hpp"

namespace a2aperf {

PairAxes pair_axes_of(const Options& options);

// "511 of 511 steps x 2 sizes x (2 + 10) ops on 512 ranks".
std::string pair_effort(const Plan& plan, const Options& options, int ranks);

} // namespace a2aperf
