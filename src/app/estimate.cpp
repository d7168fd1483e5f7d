// SPDX-License-Identifier: BSD-3-Clause
#include "estimate.hpp"

#include <algorithm>

#include "workload.hpp"

namespace a2aperf {
namespace {

// Of a leader: it takes and gives what each rank of its node has for others, and exchanges it with the other ones.
double seconds_of_leader(const Point& point) {
    const Layout& layout = point.forwarding->layout();
    const auto& on_node = layout.ranks_on_node();
    const double here = *std::ranges::max_element(on_node);
    const double messages = 2 * (here - 1) + layout.nodes() - 1;
    const double blocks = (3 * here - 2) * (layout.ranks() - here) + here - 1;
    return messages * kSecondsPerMessage + blocks * static_cast<double>(point.message_size) / kBytesPerSecond;
}

} // namespace

double seconds_of_op(const Point& point, int ranks) {
    if (point.forwarding) return seconds_of_leader(point);
    const double peers = ranks - 1;
    const double bytes =
        point.traffic ? point.traffic->loads().rank.bytes : peers * static_cast<double>(point.message_size);
    double messages = peers * static_cast<double>(point.chunks());
    // Not all of them are as large as the one that makes most chunks.
    if (point.traffic && point.is_cut())
        messages = std::min(messages, peers + bytes / static_cast<double>(point.chunk));
    return messages * kSecondsPerMessage + bytes / kBytesPerSecond;
}

Nanoseconds estimated_time(const Plan& plan, const Options& options, int ranks) {
    const Workload& workload = workload_of(options);
    if (const auto asked = workload.time_asked(options)) return *asked;
    const double ops = (options.precision ? options.max_ops : options.ops) + options.warmup + 1;
    double seconds = 0;
    const Point* largest = nullptr;
    for (const int index : plan.order) {
        const Point& point = plan.points[static_cast<std::size_t>(index)];
        if (largest == nullptr || point.message_size > largest->message_size) largest = &point;
        seconds += workload.seconds_of_point(options, point, ops, ranks);
    }
    if (largest != nullptr)
        seconds += workload.points_afterwards(options) * workload.seconds_of_point(options, *largest, ops, ranks);
    seconds += workload.seconds_of_writing(options, plan, ranks);
    return static_cast<Nanoseconds>(seconds * 1e9);
}

} // namespace a2aperf
