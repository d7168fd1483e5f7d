// SPDX-License-Identifier: BSD-3-Clause
// What a rank does while there is nothing to do, and for how long.
#pragma once

#include <sched.h>

#include "a2aperf/base/clock.hpp"
#include "a2aperf/job/stop_signal.hpp"

namespace a2aperf {

// throttle: polls as spin does, and pauses after every so many empty polls in a row.
enum class Polling { spin, yield, block, throttle };

class Deadline {
public:
    // throttle: after how many empty polls a rank pauses, of that way alone; it looks at the clock as often.
    Deadline(Polling polling, Nanoseconds timeout, unsigned throttle = 0)
        : polling_(polling), yields_(polling == Polling::yield || polling == Polling::block), timeout_(timeout),
          idles_per_look_(polling == Polling::throttle && throttle > 0 ? throttle : kIdlesPerLook) {}

    static constexpr Nanoseconds kPause = 1000;

    Polling polling() const { return polling_; }
    bool yields() const { return yields_; } // at each rest, which may be long then
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
        if (yields_) sched_yield();
    }

    // An empty poll. False when nothing has happened for the timeout. Throws Interrupted when a signal to stop has
    // waited for too long.
    [[nodiscard]] bool idle() {
        rest();
        if (++idles_ != idles_per_look_) [[likely]]
            return true;
        idles_ = 0;
        return polling_ == Polling::throttle ? pause() : look();
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

    // Without a call of the provider; others may have the core meanwhile.
    [[nodiscard, gnu::noinline]] bool pause() {
        const Nanoseconds end = now_ns() + kPause;
        do {
            sched_yield();
        } while (now_ns() < end);
        return look();
    }

    Polling polling_;
    bool yields_; // after every empty poll
    Nanoseconds timeout_;
    unsigned idles_per_look_;
    unsigned idles_ = 0;
    Nanoseconds since_ = 0;
};

} // namespace a2aperf
