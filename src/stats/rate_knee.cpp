// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/stats/rate_knee.hpp"

#include <algorithm>

namespace a2aperf {

std::optional<RateKnee> find_knee(std::span<const RatePoint> points) {
    RateKnee knee;
    for (const RatePoint& point : points)
        if (is_kept(point)) knee.kept = std::max(knee.kept, point.offered);
    for (const RatePoint& point : points)
        if (point.offered > knee.kept && (knee.lost == 0 || point.offered < knee.lost)) {
            knee.lost = point.offered;
            knee.achieved = point.achieved;
        }
    return knee.lost > 0 ? std::optional(knee) : std::nullopt;
}

} // namespace a2aperf
