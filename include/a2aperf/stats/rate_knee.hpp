// SPDX-License-Identifier: BSD-3-Clause
// Up to which rate as many messages are answered as are due.
#pragma once

#include <optional>
#include <span>

namespace a2aperf {

struct RatePoint {
    double offered = 0, achieved = 0; // messages/s
    double answered = 0;              // messages, from which the rate was achieved
    double shortest_ns = 0;           // their shortest latency
};

// Of the offered rate, what is achieved where it is kept.
inline constexpr double kKeptShare = 0.99;
// The last message has its answer one latency after it was due, however few there are under way: the shortest
// one is no time in which fewer were answered than were due.
constexpr bool is_kept(const RatePoint& point) {
    const double waited =
        point.answered > 0 ? point.achieved * point.shortest_ns / 1e9 / point.answered : 0; // share
    return point.achieved >= kKeptShare * point.offered * (1 - waited);
}

struct RateKnee {
    double kept = 0;     // the highest rate that was offered and kept; 0: none
    double lost = 0;     // the lowest above it that was offered
    double achieved = 0; // when that was
};

// Points in any order; none where no rate was offered above the highest that was kept.
std::optional<RateKnee> find_knee(std::span<const RatePoint> points);

} // namespace a2aperf
