// SPDX-License-Identifier: BSD-3-Clause
// What a rank does while there is nothing to do, and for how long.
#pragma once

#include <sched.h>

#include "a2aperf/base/clock.hpp"
#include "a2aperf/job/stop_signal.hpp"

namespace a2aperf {

enum class Polling { spin, yield, block };

class Deadline {
public:
    Deadline(Polling polling, Nanoseconds timeout) : polling_(polling), timeout_(timeout) {}

    Polling polling() const { return polling_; }
    Nanoseconds timeout() const { return timeout_; }

    // Something happened: the deadline moves.
    void reset() {
        idles_ = 0;
        since_ = 0;
    }

    // Nothing need happen yet.
    void hold() { since_ = 0; }

    // How long nothing has happened.
    Nanoseconds waited() const { return since_ == 0 ? 0 : now_ns() - since_; }

    // An empty poll where there is no deadline.
    void rest() const {
        if (polling_ != Polling::spin) sched_yield();
    }

    // An empty poll. False when nothing has happened for the timeout. Throws Interrupted when a signal to stop has
    // waited for too long.
    [[nodiscard]] bool idle() {
        rest();
        return ++idles_ % kIdlesPerLook != 0 || look();
    }

    // The same without the poll, for who looks seldom.
    [[nodiscard]] bool look() {
        StopSignal::throw_overdue();
        const Nanoseconds now = now_ns();
        if (since_ == 0) since_ = now;
        return now - since_ < timeout_;
    }

private:
    static constexpr unsigned kIdlesPerLook = 64; // reading the clock costs as much as a poll

    Polling polling_;
    Nanoseconds timeout_;
    unsigned idles_ = 0;
    Nanoseconds since_ = 0;
};

} // namespace a2aperf
