// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/record/preemption.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace a2aperf {
namespace {

// As in the analysis (a2aperf/preemption.py): the system takes the core of every process now and then, and from one
// that shares it at each of its time slices.
constexpr double kOften = 50;
// The kernel counts CPU time by its ticks: so little of it tells nothing.
constexpr double kLeastSeconds = 0.1;

double seconds_of(const RankCounters& rank) {
    return static_cast<double>(rank.user_time_ns + rank.system_time_ns) * 1e-9;
}

double per_second(const RankCounters& rank) {
    return static_cast<double>(rank.involuntary_switches) / std::max(seconds_of(rank), kLeastSeconds);
}

} // namespace

void Preemption::add(const Point& point, const PointResult& result) {
    ++points_;
    double worst = 0;
    for (std::size_t rank = 0; rank < result.ranks.size(); ++rank) {
        worst = std::max(worst, per_second(result.ranks[rank]));
        if (per_second(result.ranks[rank]) <= most_) continue;
        most_ = per_second(result.ranks[rank]);
        switches_ = result.ranks[rank].involuntary_switches;
        is_short_ = seconds_of(result.ranks[rank]) < kLeastSeconds;
        rank_ = rank;
        message_size_ = point.message_size;
    }
    if (worst > kOften) ++hit_;
}

std::string Preemption::words(bool yields) const {
    if (hit_ == 0) return {};
    const std::string how_often = is_short_ ? fmt::format("{} times in less than {} s", switches_, kLeastSeconds)
                                            : fmt::format("{:.0f} times in a second", most_);
    return fmt::format("note: ranks {} at {} of {}, most at {}: {} of its CPU time (rank {})",
                       yields ? "yielded their core or were preempted" : "were preempted", hit_,
                       counted(static_cast<std::int64_t>(points_), "point"), format_bytes(message_size_), how_often,
                       rank_);
}

} // namespace a2aperf
