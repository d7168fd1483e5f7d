// SPDX-License-Identifier: BSD-3-Clause
// The clock of every timed moment: CLOCK_MONOTONIC, read without a system call.
#pragma once

#include <ctime>
#include <string>

#include "a2aperf/base/units.hpp"

namespace a2aperf {

inline Nanoseconds now_ns() {
    timespec t; // not set to zero first: this is called in the timed loop
    clock_gettime(CLOCK_MONOTONIC, &t);
    return static_cast<Nanoseconds>(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
}

// Nanoseconds since 1970-01-01 UTC; for provenance only, never for an interval.
inline Nanoseconds wall_clock_ns() {
    timespec t{};
    clock_gettime(CLOCK_REALTIME, &t);
    return static_cast<Nanoseconds>(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
}

// "2026-01-31T12:00:00Z" from nanoseconds since 1970-01-01.
std::string format_utc(Nanoseconds since_epoch);

} // namespace a2aperf
