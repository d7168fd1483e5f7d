// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/measure/heartbeat.hpp"

#include <algorithm>

#include "a2aperf/base/clock.hpp"

namespace a2aperf {

Heartbeat::Heartbeat(const Job& job, Nanoseconds timeout, Nanoseconds longest_pause)
    : job_(job), interval_(timeout / kBeats), most_(timeout + timeout / kShares + longest_pause), looked_(now_ns()),
      heard_at_(looked_) {}

bool Heartbeat::is_silent(Nanoseconds now) {
    // One that was held up has first to read what came meanwhile.
    watched_ += std::min(now - looked_, 2 * interval_);
    looked_ = now;
    if (job_.ranks() == 1) return false;
    job_.beat((job_.rank() + 1) % job_.ranks());
    if (job_.take_beats(heard())) {
        watched_ = 0;
        heard_at_ = now;
    }
    return watched_ >= most_;
}

} // namespace a2aperf
