// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/plan/point.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "a2aperf/plan/rate_list.hpp"

namespace a2aperf {

std::string_view to_string(Role role) {
    switch (role) {
    case Role::measure:
        return "measure";
    case Role::baseline:
        return "baseline";
    case Role::sentinel:
        return "sentinel";
    case Role::pair:
        return "pair";
    case Role::stream:
        return "stream";
    case Role::echo:
        return "echo";
    case Role::open_loop:
        return "open-loop";
    }
    return "";
}

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

std::string_view to_string(Threads threads) {
    return threads == Threads::one ? "one" : "each";
}

std::string Stream::label() const {
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

std::string_view to_string(Post post) {
    return post == Post::before ? "before" : "inside";
}

std::string_view Point::schedule_name() const {
    if (is_duration()) return "";
    return schedule != nullptr ? schedule->name : "library";
}

Bytes Point::buffer_bytes(int ranks) const {
    const Bytes all =
        largest_message() * static_cast<Bytes>(messages_per_rank(ranks)); // of a duration's verification, too
    if (is_round_trips()) return std::max(all, echo_bytes());
    return role == Role::stream ? std::max(all, stream_bytes()) : all;
}

Point::StreamRoom Point::stream_room() const {
    std::map<Rank, StreamRoom> of_rank;
    for (const StreamPair& pair : stream.who) {
        StreamRoom& sender = of_rank[pair.from];
        sender.receives += kStreamCredits;
        sender.sends += window;
        of_rank[pair.to].receives += window;
        of_rank[pair.to].messages += window;
    }
    StreamRoom most;
    for (const auto& [rank, room] : of_rank)
        most = {std::max(most.receives, room.receives), std::max(most.messages, room.messages),
                std::max(most.sends, room.sends)};
    return most;
}

Bytes Point::stream_bytes() const {
    const StreamRoom room = stream_room();
    return stream_stride(message_size) * static_cast<Bytes>(std::max(room.receives, room.sends + 1)); // a credit
}

int Point::echo_receives() const {
    std::map<Rank, int> of_rank;
    for (const StreamPair& pair : stream.who)
        for (const Rank rank : {pair.from, pair.to}) of_rank[rank] += echo.outstanding;
    int most = 0;
    for (const auto& [rank, receives] : of_rank) most = std::max(most, receives);
    return most;
}

Bytes Point::echo_bytes() const {
    return stream_stride(largest_message()) * static_cast<Bytes>(echo_receives());
}

Point Point::of_requests() const {
    Point requests = *this;
    requests.message_size = echo.request_size;
    return requests;
}

Peers Point::peers(Rank rank, const Layout& layout, std::uint64_t seed) const {
    Peers peers;
    if (distance == 0) {
        for (const Step& step : schedule->steps(rank, layout, seed)) {
            peers.sends.push_back(step.send_to);
            peers.receives.push_back(step.receive_from);
        }
        return peers;
    }
    const int ranks = layout.ranks();
    const Rank target = (rank + distance) % ranks;
    const Rank source = (rank + ranks - distance) % ranks;
    const auto is_active = [&](Rank sender) { return only_sender < 0 || sender == only_sender; };
    if (is_active(rank)) peers.sends.push_back(target);
    if (is_active(source)) peers.receives.push_back(source);
    return peers;
}

std::string Point::label() const {
    const std::string pages = memory.empty() || memory == "default" ? "" : fmt::format(" memory {}", memory);
    if (role == Role::stream)
        return fmt::format("{} stream {}{} window {} {} B", mode, stream.label(), pages, window, message_size);
    if (role == Role::echo)
        return fmt::format("{} echo {}{} outstanding {} request {} B answer {} B", mode, stream.pairs, pages,
                           echo.outstanding, echo.request_size, message_size);
    if (role == Role::open_loop)
        return fmt::format("{} open-loop {}{} outstanding {} {}{} {} B", mode, stream.pairs, pages,
                           echo.outstanding, echo.is_paced() ? fmt::format("rate {} ", format_rate(echo.rate)) : "",
                           to_string(echo.arrivals), message_size);
    const std::string cell = fmt::format("{} {}", mode, schedule_name());
    if (is_baseline()) return fmt::format("{} {} B", cell, message_size);
    if (distance > 0) return fmt::format("{} by {} {} B", cell, distance, message_size);
    const std::string width = window == 0 ? "all" : fmt::format("{}", window);
    return fmt::format("{} window {} {} B{}", cell, width, message_size,
                       role == Role::sentinel ? " (sentinel)" : "");
}

} // namespace a2aperf
