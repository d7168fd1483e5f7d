// SPDX-License-Identifier: BSD-3-Clause
// The sweep that the user asked for.
#pragma once

#include "a2aperf/config/options.hpp"
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

} // namespace a2aperf
