// SPDX-License-Identifier: BSD-3-Clause
#include "estimate.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

namespace a2aperf {
namespace {

// The cost of a message and the payload rate of a rank in the 2019 table (20 ranks: 67 us at 1000 B, 284 us at
// 60 kB).
constexpr double kSecondsPerMessage = 4e-6;
constexpr double kBytesPerSecond = 5e9;
constexpr double kSecondsPerPoint = 0.05;

// A step of pairs is a small point: verification, agreements and the gathering weigh more than its ops.
constexpr double kSecondsPerStep = 5e-3;
constexpr double kSecondsPerStepAndRank = 20e-6;
constexpr double kSecondsPerAgreement = 50e-6;

double seconds_of_pair_point(Bytes message_size, double ops, int ranks) {
    const double op =
        kSecondsPerAgreement + kSecondsPerMessage + static_cast<double>(message_size) / kBytesPerSecond;
    return kSecondsPerStep + kSecondsPerStepAndRank * ranks + ops * op;
}

double seconds_of_point(const Options& options, Bytes message_size, double ops, int ranks) {
    const double op = (ranks - 1) * (kSecondsPerMessage + static_cast<double>(message_size) / kBytesPerSecond);
    double point = ops * op * (options.with_mpi_baseline ? 2 : 1);
    if (options.time_budget) point = std::min(point, static_cast<double>(*options.time_budget) * 1e-9);
    return kSecondsPerPoint + point;
}

} // namespace

Nanoseconds estimated_time(const Plan& plan, const Options& options, int ranks) {
    const double ops = (options.precision ? options.max_ops : options.ops) + options.warmup + 1;
    double seconds = 0;
    Bytes largest = 0;
    for (const int index : plan.order) {
        const Bytes size = plan.points[static_cast<std::size_t>(index)].message_size;
        largest = std::max(largest, size);
        seconds += options.command == Command::pairs ? seconds_of_pair_point(size, ops, ranks)
                                                     : seconds_of_point(options, size, ops, ranks);
    }
    if (options.command == Command::pairs) seconds += options.suspects * seconds_of_pair_point(largest, ops, ranks);
    return static_cast<Nanoseconds>(seconds * 1e9);
}

std::string pair_effort(const Plan& plan, const Options& options, int ranks) {
    std::set<int> steps;
    std::set<Bytes> sizes;
    for (const int index : plan.order) {
        steps.insert(plan.points[static_cast<std::size_t>(index)].distance);
        sizes.insert(plan.points[static_cast<std::size_t>(index)].message_size);
    }
    return fmt::format("{} of {} steps x {} size{} x ({} + {}) ops on {} ranks", steps.size(), ranks - 1,
                       sizes.size(), sizes.size() == 1 ? "" : "s", options.warmup, options.ops, ranks);
}

} // namespace a2aperf
