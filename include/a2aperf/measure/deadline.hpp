// SPDX-License-Identifier: BSD-3-Clause
// What a rank does while there is nothing to do, and for how long.
#pragma once

#include <sched.h>

#include <optional>

#include "a2aperf/base/clock.hpp"
#include "a2aperf/job/stop_signal.hpp"
#include "a2aperf/plan/polling.hpp"

namespace a2aperf {

class Deadline {
public:
    // After how many empty polls a rank that throttles pauses: it looks at the clock as often.
    Deadline(Polling polling, Nanoseconds timeout, unsigned throttle = 0)
        : usual_{polling, throttle}, timeout_(timeout) {
        poll_as(std::nullopt);
    }

    // From now on; nothing: as it was made.
    void poll_as(const std::optional<PollingWay>& way) {
        const PollingWay& asked = way ? *way : usual_;
        polling_ = asked.polling;
        yields_ = polling_ == Polling::yield || polling_ == Polling::block;
        idles_per_look_ = polling_ == Polling::throttle && asked.throttle > 0 ? asked.throttle : kIdlesPerLook;
        idles_ = 0;
    }

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

    PollingWay usual_;
    Polling polling_ = Polling::spin;
    bool yields_ = false; // after every empty poll
    Nanoseconds timeout_;
    unsigned idles_per_look_ = kIdlesPerLook;
    unsigned idles_ = 0;
    Nanoseconds since_ = 0;
};

} // namespace a2aperf
