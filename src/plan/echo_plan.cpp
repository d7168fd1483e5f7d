// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/plan/echo_plan.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "a2aperf/plan/point.hpp"

namespace a2aperf {

std::string EchoPlan::label(const Point& point) const {
    return fmt::format("{} echo {}{} outstanding {} request {} B answer {} B", point.mode, pairs,
                       point.memory_words(), outstanding, request_size, point.message_size);
}

// What comes has a receive at its rank, and is answered or was asked for by a send.
FlowRoom EchoPlan::room(const Point&) const {
    std::map<Rank, int> of_rank;
    for (const StreamPair& pair : who)
        for (const Rank rank : {pair.from, pair.to}) of_rank[rank] += outstanding;
    int most = 0;
    for (const auto& [rank, receives] : of_rank) most = std::max(most, receives);
    return {.receives = most, .messages = most, .sends = most};
}

Bytes EchoPlan::bytes(const Point& point) const {
    return stream_stride(point.largest_message()) * static_cast<Bytes>(room(point).receives);
}

std::vector<FlowMode> EchoPlan::modes(const Point& point) const {
    return {{point.mode, std::max(point.message_size, request_size)}};
}

std::string EchoPlan::in_buffers(const Point&) const {
    return fmt::format("the messages of {}", counted(outstanding, "round trip"));
}

const EchoPlan& echo_of(const Point& point) {
    return dynamic_cast<const EchoPlan&>(*point.flow);
}

} // namespace a2aperf
