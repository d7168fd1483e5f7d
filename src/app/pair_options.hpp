// SPDX-License-Identifier: BSD-3-Clause
// What the options that pairs alone has are put into.
#pragma once

#include <optional>

#include "a2aperf/config/options.hpp"

namespace a2aperf {

struct PairOptions {
    std::optional<int> steps; // at most so many distances; default: by the number of ranks
    int suspects = 16;        // most pairs to measure with all others idle
};

const PairOptions& pair_options(const Options& options);

} // namespace a2aperf
