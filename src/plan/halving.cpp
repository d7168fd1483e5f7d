// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/plan/halving.hpp"

#include <algorithm>
#include <cmath>

namespace a2aperf {

std::vector<Trial> faster_half(std::vector<Trial> trials) {
    const std::size_t kept = (trials.size() + 1) / 2;
    const auto is_unknown = [](const Trial& trial) { return std::isnan(trial.time_ns); };
    // Then the rounds before are all that is known, and these are in their order.
    if (std::ranges::all_of(trials, is_unknown)) {
        trials.resize(kept);
        return trials;
    }
    std::erase_if(trials, is_unknown);
    std::ranges::sort(trials, [](const Trial& a, const Trial& b) {
        return a.time_ns != b.time_ns ? a.time_ns < b.time_ns : a.point < b.point;
    });
    trials.resize(std::min(trials.size(), kept));
    return trials;
}

int halvings(std::size_t trials) {
    int count = 0;
    for (; trials > 1; trials = (trials + 1) / 2) ++count;
    return count;
}

} // namespace a2aperf
