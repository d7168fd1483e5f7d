// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/measure/agreement.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "a2aperf/base/clock.hpp"
#include "a2aperf/base/error.hpp"
#include "a2aperf/job/stop_signal.hpp"

namespace a2aperf {

// The ballot carries the time at which each rank entered, the slack it wants and the signal it got. The largest
// entry time plus the largest slack is a start that nobody can have missed already.
void Agreement::enter() {
    job_.enter({clock_.to_common(now_ns()), slack_, StopSignal::number()});
    deadline_.reset();
}

Nanoseconds Agreement::next_start() {
    const auto& [slowest, slack, signal] = job_.result();
    // What the agreement itself took after the last rank entered, with half as much again for the next one.
    const Nanoseconds took = clock_.to_common(now_ns()) - slowest;
    slack_ =
        std::clamp(std::max(took + took / 2, slack_ - slack_ / 16), Nanoseconds{5'000}, Nanoseconds{20'000'000});
    stop_signal_ = static_cast<int>(signal);
    return slowest + slack;
}

void Agreement::fail(const std::string& where) const {
    std::vector<std::string> names;
    const Nanoseconds waited = deadline_.waited();
    for (const Rank rank : job_.missing_ranks()) names.push_back(job_.who(rank));
    // A rank that is merely late may be among them: it has not begun to wait.
    const std::string silent =
        names.empty() ? "" : fmt::format("; nothing was heard of {} after that", fmt::join(names, ", "));
    throw RunError(fmt::format("{}: it waited {} for the other ranks to finish theirs{}", where,
                               format_duration(waited), silent),
                   EndReason::fabric_deadline);
}

} // namespace a2aperf
