// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/plan/stream_plan.hpp"

#include <algorithm>
#include <limits>
#include <map>

#include <fmt/format.h>

#include "a2aperf/base/error.hpp"

namespace a2aperf {

std::string_view to_string(InjectUse use) {
    switch (use) {
    case InjectUse::automatic:
        return "auto";
    case InjectUse::on:
        return "on";
    case InjectUse::off:
        return "off";
    }
    return "";
}

std::string_view to_string(CompletionLevel level) {
    switch (level) {
    case CompletionLevel::as_provider:
        return "default";
    case CompletionLevel::transmit:
        return "transmit";
    case CompletionLevel::delivery:
        return "delivery";
    }
    return "";
}

std::string StreamPlan::words() const {
    std::string words = pairs;
    if (is_duplex) words += " both ways";
    if (free_delay.time > 0)
        words += fmt::format(" pause {}/{}", format_duration(free_delay.time), free_delay.every);
    if (inject != InjectUse::automatic) words += fmt::format(" inject {}", to_string(inject));
    if (completion != CompletionLevel::as_provider) words += fmt::format(" completion {}", to_string(completion));
    if (cq_mod > 1) words += fmt::format(" cq-mod {}", cq_mod);
    if (threads != Threads::one) words += fmt::format(" threads {}", to_string(threads));
    return words;
}

std::string StreamPlan::label(const Point& point) const {
    return fmt::format("{} stream {}{} window {} {} B", point.mode, words(), point.memory_words(), point.window,
                       point.message_size);
}

FlowRoom StreamPlan::room(const Point& point) const {
    std::map<Rank, FlowRoom> of_rank;
    const auto add = [&](int& room, int more) {
        if (more > std::numeric_limits<int>::max() / 2 - room)
            throw UsageError(
                fmt::format("--window: {} messages of each peer are more at one rank than can be under "
                            "way",
                            point.window));
        room += more;
    };
    for (const StreamPair& pair : who) {
        FlowRoom& sender = of_rank[pair.from];
        add(sender.receives, kStreamCredits);
        add(sender.sends, point.window);
        add(of_rank[pair.to].receives, point.window);
        add(of_rank[pair.to].messages, point.window);
    }
    FlowRoom most;
    for (const auto& [rank, room] : of_rank)
        most = {std::max(most.receives, room.receives), std::max(most.messages, room.messages),
                std::max(most.sends, room.sends)};
    return most;
}

Bytes StreamPlan::bytes(const Point& point) const {
    const FlowRoom most = room(point);
    return stream_stride(point.message_size) *
           static_cast<Bytes>(std::max(most.receives, most.sends + 1)); // a credit
}

std::string StreamPlan::in_buffers(const Point& point) const {
    return fmt::format("{} and the credits", counted(point.window, "message"));
}

const StreamPlan& stream_of(const Point& point) {
    return dynamic_cast<const StreamPlan&>(*point.flow);
}

} // namespace a2aperf
