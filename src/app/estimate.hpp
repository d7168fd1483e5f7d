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

// Of an all-to-all.
inline double seconds_of_op(Bytes message_size, int ranks) {
    return (ranks - 1) * (kSecondsPerMessage + static_cast<double>(message_size) / kBytesPerSecond);
}

// For planning a job's time limit, and no more: on a network of 2019, at least.
Nanoseconds estimated_time(const Plan& plan, const Options& options, int ranks);

} // namespace a2aperf
