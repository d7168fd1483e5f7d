// SPDX-License-Identifier: BSD-3-Clause
// The matrices that the ops of a point take in turn where traffic is drawn anew for each op (--redraw op).
#pragma once

#include <cstdint>

#include "a2aperf/plan/layout.hpp"
#include "a2aperf/plan/traffic_pattern.hpp"

namespace a2aperf {

class TrafficDraws {
public:
    // Throws UsageError where one of them is not to be had on this layout, or sends nothing.
    TrafficDraws(TrafficPattern pattern, const Layout& layout, std::uint64_t seed);

    int count() const { return count_; }
    // Of an op by its number in the point: after count() of them they begin again. None is kept.
    TrafficMatrix matrix(int op) const { return pattern_.matrix(layout_, seed_, op % count_); }
    std::uint64_t digest() const { return digest_; } // of all, 1 to 2^63 - 1

private:
    TrafficPattern pattern_;
    Layout layout_;
    std::uint64_t seed_;
    int count_;
    std::uint64_t digest_ = 0;
};

} // namespace a2aperf
