// SPDX-License-Identifier: BSD-3-Clause
// What the start of a duration carries of the time that messages took.
#pragma once

#include <cstdint>

namespace a2aperf {

// A time between moments of different ranks, of which the busiest got so many messages: NaN where the clocks may be
// off by as much (clock_error_ns), or where it leaves no more than 1 ns for each message, in which no rank looks at
// one. No rate follows from such a time.
double carried_time(double time_ns, double clock_error_ns, std::int64_t most_messages);

// Of a time that is NaN.
inline constexpr const char* kNotCarried =
    "time is not above what the clocks may be off by, or no time for its messages";

} // namespace a2aperf
