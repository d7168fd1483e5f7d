// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/measure/duration_loop.hpp"

#include <algorithm>

#include "a2aperf/base/error.hpp"
#include "a2aperf/job/stop_signal.hpp"

namespace a2aperf {

Nanoseconds Duration::end_of(std::size_t tick_number) const {
    return std::min(static_cast<Nanoseconds>(tick_number + 1) * tick, length);
}

std::size_t Duration::ticks_before(Nanoseconds offset) const {
    if (offset >= length) return ticks();
    return offset < 0 ? 0 : static_cast<std::size_t>(offset / tick);
}

bool DurationLoop::is_told_to_stop() const {
    return StopSignal::number() != 0;
}

void DurationLoop::listen(Nanoseconds now) {
    if (!heartbeat_ || !heartbeat_->is_due(now) || !heartbeat_->is_silent(now)) return;
    throw RunError(fmt::format("in the duration nothing was heard of {} for {}; {} waits for its end",
                               job_.who(heartbeat_->heard()), format_duration(heartbeat_->lasted(now)),
                               job_.who(job_.rank())),
                   EndReason::fabric_deadline);
}

void DurationLoop::fail_waiting(const char* when, const std::string& missing) const {
    throw RunError(fmt::format("{} the duration nothing happened for {}; {} waits for {}", when,
                               format_duration(deadline_.waited()), job_.who(job_.rank()), missing),
                   EndReason::fabric_deadline);
}

void DurationLoop::fail_silent(const Silent& silent) const {
    throw RunError(fmt::format("in the duration no {} came from {} for {}; {} waits for them", silent.due,
                               job_.who(silent.peers), format_duration(silent.lasted), job_.who(job_.rank())),
                   EndReason::fabric_deadline);
}

} // namespace a2aperf
