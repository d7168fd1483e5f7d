// SPDX-License-Identifier: BSD-3-Clause
// How long a launch may take, told before it begins.
#pragma once

#include "a2aperf/config/options.hpp"
#include "a2aperf/plan/plan.hpp"

namespace a2aperf {

// The cost of a message and the payload rate of a rank in the 2019 table (20 ranks: 67 us at 1000 B, 284 us at
// 60 kB).
inline constexpr double kSecondsPerMessage = 4e-6;
inline constexpr double kBytesPerSecond = 5e9;
// Of an all-to-all's point: to verify it, warm it up and write it.
inline constexpr double kSecondsBesideOps = 0.05;

// Of an all-to-all's point, for the busiest rank. What is cut costs a message for each chunk; the endpoints share
// the same messages out, and a rank that serves several has no less to do.
double seconds_of_op(const Point& point, int ranks);

// For planning a job's time limit, and no more: on a network of 2019, at least.
Nanoseconds estimated_time(const Plan& plan, const Options& options, int ranks);

} // namespace a2aperf
