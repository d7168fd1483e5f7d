// SPDX-License-Identifier: BSD-3-Clause
// What paths got side by side, interval by interval, and in the part of a point in which all of them could send.
#pragma once

#include <cstdint>
#include <vector>

#include "a2aperf/plan/path.hpp"
#include "a2aperf/stats/samples.hpp"

namespace a2aperf {

// Of one path: what came in it, and for how long its sender may have had nothing outstanding; -1 = not known.
struct PathInterval {
    Nanoseconds begin, length;
    std::int64_t messages;
    Nanoseconds idle;
};

// Of each path the whole intervals from its start on. The n-th of all paths end with the same tick: one that a rank
// took late, so that it has no length, is one with the next. ticks: of the duration; what was sampled after them is
// in no interval.
std::vector<std::vector<PathInterval>> path_intervals(const Samples& samples, const std::vector<Path>& paths,
                                                      int ticks);

struct SharedPart {
    Nanoseconds time = 0; // of its intervals, in the mean over the paths
    int intervals = 0;
    std::vector<std::int64_t> messages; // of each path
    // Of each path the share of the time in which its sender may have had nothing outstanding; kAbsent where that
    // is not known.
    std::vector<double> idle;

    std::vector<double> bytes(const std::vector<Path>& paths) const;
    // Some path's sender was the one who decided: shares are not the fabric's.
    bool is_sender_bound() const;
};

inline constexpr double kMostIdle = 0.01; // of the time, without which shares are the sending thread's

// The intervals that begin when the last path could send, or later.
SharedPart shared_part(const std::vector<std::vector<PathInterval>>& intervals, const std::vector<Path>& paths);

} // namespace a2aperf
