// SPDX-License-Identifier: BSD-3-Clause
// Tags of the messages of a job; 0 is that of Job::send.
#pragma once

namespace a2aperf {

constexpr int kRollCall = 1;
constexpr int kFarewell = 2;
constexpr int kLastWords = 3;
constexpr int kRollAnswer = 4;
constexpr int kHeartbeat = 5;
constexpr int kSignalled = 6;

} // namespace a2aperf
