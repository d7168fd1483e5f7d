// SPDX-License-Identifier: BSD-3-Clause
// One clock for all ranks: a line per rank that maps its CLOCK_MONOTONIC to rank 0's.
#pragma once

#include <cmath>

#include "a2aperf/base/units.hpp"

namespace a2aperf {

// common = local + offset + drift * (local - reference), rounded to 1 ns.
struct CommonClock {
    Nanoseconds offset = 0;    // at the reference; hosts' uptimes differ by more than a double holds exactly
    double drift = 0;          // ns/ns
    Nanoseconds reference = 0; // on the local clock

    Nanoseconds to_common(Nanoseconds local) const {
        return local + offset + std::llrint(drift * static_cast<double>(local - reference));
    }
    // The inverse to within 1 ns for drifts of real clocks (|drift| < 1e-3).
    Nanoseconds to_local(Nanoseconds common) const {
        return reference + std::llrint(static_cast<double>(common - offset - reference) / (1 + drift));
    }
    // A local moment as the offset from an op's start s_i, which is on the common clock.
    Nanoseconds since(Nanoseconds start, Nanoseconds local) const { return to_common(local) - start; }
};

} // namespace a2aperf
