// SPDX-License-Identifier: BSD-3-Clause
// Up to which rate as many messages are answered as are due.
#pragma once

#include <optional>
#include <span>

namespace a2aperf {

struct RatePoint {
    double offered = 0, achieved = 0; // messages/s
};

// Of the offered rate, what is achieved where it is kept.
inline constexpr double kKeptShare = 0.99;
constexpr bool is_kept(const RatePoint& point) {
    return point.achieved >= kKeptShare * point.offered;
}

struct RateKnee {
    double kept = 0;     // the highest rate that was offered and kept; 0: none
    double lost = 0;     // the lowest above it that was offered
    double achieved = 0; // when that was
};

// Points in any order; none where no rate was offered above the highest that was kept.
std::optional<RateKnee> find_knee(std::span<const RatePoint> points);

} // namespace a2aperf
