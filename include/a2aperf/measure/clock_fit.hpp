// SPDX-License-Identifier: BSD-3-Clause
// From the times of ping-pongs to a line between two clocks. Pure: no messages, no clock is read.
#pragma once

#include <span>

#include "a2aperf/measure/common_clock.hpp"

namespace a2aperf {

struct PingPong {
    Nanoseconds sent;     // on the asking rank's clock
    Nanoseconds answered; // on the answering rank's clock
    Nanoseconds received; // on the asking rank's clock
};

// What one clock showed while the other showed `local`. The true offset lies within half a round trip of it.
struct OffsetPoint {
    Nanoseconds local;
    Nanoseconds offset; // the other clock - local
    Nanoseconds round_trip;
};

// The ping-pong with the shortest round trip, with the answer put in its middle (Cristian: Probabilistic clock
// synchronization, Distributed Computing 3, 1989). At least one is needed.
OffsetPoint best_of(std::span<const PingPong> ping_pongs);

// The line through the points, which are in time order, by least squares. A point weighs as the inverse square of
// its round trip. A drift is believed only as far as the points carry it (ridge regression towards 0, with 100 ppm
// as the usual size of a drift): short or noisy measurements give offset without drift, not a wild slope.
CommonClock fit_line(std::span<const OffsetPoint> points);

// From a line to some clock and that clock's line to the common one: the line to the common clock.
CommonClock compose(const CommonClock& to_other, const CommonClock& other_to_common);

// How far the line may be from the other clock at this point: what was seen plus half the round trip, which no
// exchange of messages can rule out.
Nanoseconds error_bound(const CommonClock& line, const OffsetPoint& point);

} // namespace a2aperf
