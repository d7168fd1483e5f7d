// SPDX-License-Identifier: BSD-3-Clause
#include "estimate.hpp"

#include <algorithm>

#include "workload.hpp"

namespace a2aperf {

Nanoseconds estimated_time(const Plan& plan, const Options& options, int ranks) {
    const Workload& workload = workload_of(options);
    if (const auto asked = workload.time_asked(options)) return *asked;
    const double ops = (options.precision ? options.max_ops : options.ops) + options.warmup + 1;
    double seconds = 0;
    Bytes largest = 0;
    for (const int index : plan.order) {
        const Bytes size = plan.points[static_cast<std::size_t>(index)].message_size;
        largest = std::max(largest, size);
        seconds += workload.seconds_of_point(options, size, ops, ranks);
    }
    seconds += workload.points_afterwards(options) * workload.seconds_of_point(options, largest, ops, ranks);
    return static_cast<Nanoseconds>(seconds * 1e9);
}

} // namespace a2aperf
