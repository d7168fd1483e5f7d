// SPDX-License-Identifier: BSD-3-Clause
// What a launch of pairs measures, from its options.
#pragma once

#include <optional>
#include <string>

#include "a2aperf/config/options.hpp"
#include "a2aperf/plan/pair_plan.hpp"

namespace a2aperf {

struct PairOptions {
    std::optional<int> steps; // at most so many distances; default: by the number of ranks
    int suspects = 16;        // most pairs of the second look
};

const PairOptions& pair_options(const Options& options);

PairAxes pair_axes_of(const Options& options);

// "511 of 511 steps x 2 sizes x (2 + 10) ops on 512 ranks".
std::string pair_effort(const Plan& plan, const Options& options, int ranks);

} // namespace a2aperf
