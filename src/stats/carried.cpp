// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/stats/carried.hpp"

#include <algorithm>

#include "a2aperf/stats/pair_times.hpp"

namespace a2aperf {

double carried_time(double time_ns, double clock_error_ns, std::int64_t most_messages) {
    constexpr double kImpossible = 1; // ns of a message
    const double least = kImpossible * static_cast<double>(std::max<std::int64_t>(most_messages, 1));
    return told_by_clock(time_ns, std::max(clock_error_ns, least));
}

} // namespace a2aperf
