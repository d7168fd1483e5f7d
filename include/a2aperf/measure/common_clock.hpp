// SPDX-License-Identifier: BSD-3-Clause
// One clock for all ranks: a line per rank that maps its CLOCK_MONOTONIC to rank 0's.
#pragma once

#include "a2aperf/base/units.hpp"

namespace a2aperf {

// common = local + offset + drift * (local - reference)
struct CommonClock {
    double offset = 0;         // ns at the reference
    double drift = 0;          // ns/ns
    Nanoseconds reference = 0; // on the local clock

    Nanoseconds to_common(Nanoseconds local) const {
        return local + static_cast<Nanoseconds>(offset + drift * static_cast<double>(local - reference));
    }
    // The inverse to within 1 ns for drifts of real clocks (|drift| < 1e-3).
    Nanoseconds to_local(Nanoseconds common) const {
        const double since = static_cast<double>(common - reference) - offset;
        return reference + static_cast<Nanoseconds>(since / (1 + drift));
    }
};

} // namespace a2aperf
