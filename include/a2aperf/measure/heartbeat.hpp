// SPDX-License-Identifier: BSD-3-Clause
// Whether all ranks are still there while nobody knows how long they will take: each tells the next one of a ring.
#pragma once

#include "a2aperf/base/units.hpp"
#include "a2aperf/job/job.hpp"

namespace a2aperf {

// One that has nothing to do any more waits for the others without a deadline: they may have work for hours. So all
// send heartbeats, also those at work, and each hears those of the rank before it. They are seldom, and the first
// one leaves after a part of the timeout: most flows are over by then.
class Heartbeat {
public:
    // longest_pause: for how long a rank may be at work without a look.
    Heartbeat(const Job& job, Nanoseconds timeout, Nanoseconds longest_pause);

    bool is_due(Nanoseconds now) const { return now - looked_ >= interval_; }

    // Sends one, and takes those that came. True when none has come for the timeout and an eighth of it: who waits
    // for a message can say more, and comes first. Time counts in which this rank was looking.
    bool is_silent(Nanoseconds now);

    Rank heard() const { return (job_.rank() + job_.ranks() - 1) % job_.ranks(); }
    Nanoseconds lasted(Nanoseconds now) const { return now - heard_at_; }

private:
    static constexpr int kBeats = 16; // in a timeout
    static constexpr int kShares = 8;

    const Job& job_;
    Nanoseconds interval_, most_;
    Nanoseconds looked_, heard_at_;
    Nanoseconds watched_ = 0; // since it was heard
};

} // namespace a2aperf
