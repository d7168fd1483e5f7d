// SPDX-License-Identifier: BSD-3-Clause
// The points that the user asked for.
#pragma once

#include <utility>

#include "a2aperf/config/options.hpp"
#include "a2aperf/plan/pair_plan.hpp"
#include "a2aperf/plan/plan.hpp"

namespace a2aperf {

inline Axes axes_of(const Options& options) {
    return {.sizes = options.sizes,
            .modes = options.modes,
            .schedules = options.schedules,
            .windows = options.windows,
            .post = options.post,
            .with_baseline = options.with_mpi_baseline,
            .with_sentinel = options.with_sentinel,
            .order = options.order,
            .seed = options.seed};
}

inline PairAxes pair_axes_of(const Options& options) {
    return {.sizes = options.sizes,
            .mode = options.modes.front(),
            .post = options.post,
            .most_steps = options.steps,
            .order = options.order,
            .seed = options.seed};
}

template <class Skip>
Plan plan_for(const Options& options, const Layout& layout, Skip&& skip) {
    if (options.command == Command::pairs)
        return make_pair_plan(pair_axes_of(options), layout, std::forward<Skip>(skip));
    return make_plan(axes_of(options), layout, std::forward<Skip>(skip));
}

} // namespace a2aperf
