// SPDX-License-Identifier: BSD-3-Clause
// All ranks are here before anyone goes on: when they start, and whether one was told to stop.
#pragma once

#include <string>

#include "a2aperf/job/job.hpp"
#include "a2aperf/measure/common_clock.hpp"
#include "a2aperf/measure/deadline.hpp"

namespace a2aperf {

class Agreement {
public:
    Agreement(Job& job, const CommonClock& clock, Deadline& deadline)
        : job_(job), clock_(clock), deadline_(deadline) {}

    // Waits for all ranks and calls progress() meanwhile, which keeps peers going: true when something happened. It
    // is called at least once, also by the rank that enters last: engines end their part with it. Gives a start on
    // the common clock that nobody can have missed already. RunError begins with where().
    template <class Progress, class Where>
    Nanoseconds reach(Progress progress, Where where) {
        enter();
        progress();
        while (!job_.is_agreed())
            if (!progress() && !deadline_.idle()) fail(where());
        return next_start();
    }

    // The largest that a rank had got when it entered the last one; 0 = none.
    int stop_signal() const { return stop_signal_; }

private:
    void enter();
    Nanoseconds next_start();
    [[noreturn]] void fail(const std::string& where) const;

    Job& job_;
    const CommonClock& clock_;
    Deadline& deadline_;
    int stop_signal_ = 0;
    Nanoseconds slack_ = 20'000; // between the slowest entry and the start; adapts
};

} // namespace a2aperf
