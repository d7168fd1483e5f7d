// SPDX-License-Identifier: BSD-3-Clause
#include "point_trouble.hpp"

#include <limits>

#include <fmt/format.h>

namespace a2aperf {
namespace {

std::optional<std::string> baseline_trouble(const Point& point) {
    constexpr auto kMost = static_cast<Bytes>(std::numeric_limits<int>::max());
    if (point.traffic && point.traffic->loads().most_of_rank > kMost)
        return "too large for the int displacements of MPI_Alltoallv";
    if (point.message_size > kMost) return "too large for the int count of MPI_Alltoall";
    return std::nullopt;
}

// Of the endpoints over which the messages of an op are dealt.
std::optional<std::string> endpoints_trouble(const Point& point, int ranks) {
    const int channels = point.channels;
    if (channels == 1) return std::nullopt;
    if (channels >= ranks)
        return fmt::format("a rank has {}, and each is reached over one endpoint: {} of {} would be idle",
                           counted(ranks - 1, "peer"), channels - ranks + 1, channels);
    if (point.threads == Threads::each && point.queues == Queues::one)
        return "endpoints that have one queue have one domain, which belongs to one thread at a time";
    if (point.window != 0 && point.window < channels)
        return fmt::format("a window of {} can't be dealt over {} endpoints", point.window, channels);
    return std::nullopt;
}

// A chunk has a number, and what is under way at once a place in a queue.
std::optional<std::string> chunks_trouble(const Point& point, int ranks) {
    constexpr Bytes kMost = 1U << 18U;
    if (!point.is_cut() || point.chunks() <= kMost / static_cast<Bytes>(ranks)) return std::nullopt;
    return fmt::format("{} chunks of {} B to each of {} are too many: give larger ones", point.chunks(),
                       point.chunk, counted(ranks - 1, "peer"));
}

// What leaders pass on are whole messages of one size, over one endpoint.
std::optional<std::string> forwarding_trouble(const Point& point) {
    if (!point.forwarding) return std::nullopt;
    if (point.traffic) return "node-aware forwards uniform traffic only";
    if (point.chunk != 0) return "node-aware forwards whole messages, no chunks";
    if (point.channels > 1) return "node-aware forwards over one endpoint of each rank";
    return std::nullopt;
}

} // namespace

std::optional<std::string> point_trouble(const Point& point, const Layout& layout) {
    if (point.is_baseline()) return baseline_trouble(point);
    if (auto why = forwarding_trouble(point)) return why;
    if (auto why = endpoints_trouble(point, layout.ranks())) return why;
    return chunks_trouble(point, layout.ranks());
}

} // namespace a2aperf
