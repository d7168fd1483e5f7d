// SPDX-License-Identifier: BSD-3-Clause
// How often data are ordered on the disk: not so often that a launch waits for it.
#pragma once

#include "a2aperf/base/units.hpp"

namespace a2aperf {

class BarrierPace {
public:
    // Whether the next one would leave most of the time to the launch.
    bool is_due(Nanoseconds now) const { return now - ended_ >= kTimes * cost_; }
    void made(Nanoseconds begin, Nanoseconds end) {
        cost_ = end - begin;
        ended_ = end;
    }

private:
    static constexpr Nanoseconds kTimes = 10; // as long as the last one took
    Nanoseconds cost_ = 0;
    Nanoseconds ended_ = 0;
};

} // namespace a2aperf
