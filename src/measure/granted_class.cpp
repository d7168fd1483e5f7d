// SPDX-License-Identifier: BSD-3-Clause
#include "granted_class.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "a2aperf/fabric/class_of_service.hpp"
#include "a2aperf/fabric/provider.hpp"
#include "a2aperf/fabric/roce_class.hpp"

namespace a2aperf {
namespace {

bool is_opened_with_class(const Channel& channel) {
    return channel.connected_as_asked().value_or(false);
}

bool is_verbs(const Offer& offer) {
    return find_provider(offer.provider()).name == "verbs";
}

// Of the first rank that has one, with its number where it is another one.
std::string first_trouble(const Job& job, const std::string& mine) {
    const auto of_ranks = job.all_gather_text(mine);
    for (Rank rank = 0; rank < job.ranks(); ++rank)
        if (const std::string& trouble = of_ranks[static_cast<std::size_t>(rank)]; !trouble.empty())
            return rank == job.rank() ? trouble : fmt::format("rank {}: {}", rank, trouble);
    return {};
}

// Over TCP, where connections get their marks now.
Grant marked(const Channel& channel, const SocketMarks& marks) {
    const MarkedSockets sockets =
        mark_sockets(channel.endpoint().address(), channel.endpoint().peer_addresses(), marks);
    if (sockets.found == 0) return {false, "none of its connections was found"};
    if (sockets.marked == sockets.found) return {true, ""};
    return {false, fmt::format("{} of its {} connections took the marks", sockets.marked, sockets.found)};
}

} // namespace

void connect_as_asked(const Job& job, Channel& channel, const std::function<void()>& connect) {
    constexpr int kNone = -1, kRefused = -2;
    const auto marks = marks_of(channel.traffic_class());
    std::optional<RoceClass> roce;
    if (marks && is_verbs(channel.domain().offer())) roce.emplace(channel.domain().offer());
    // What a port had before is known on all ranks when the first of them sets it.
    const int mine = !roce ? kNone : roce->can_be_set() ? marks->type_of_service : kRefused;
    const auto wanted = job.all_gather(mine);
    const bool is_one = std::ranges::all_of(wanted, [&](int of_rank) { return of_rank == wanted.front(); });
    if (!is_one || wanted.front() < 0) {
        std::string trouble;
        if (std::ranges::find(wanted, kRefused) != wanted.end())
            trouble = first_trouble(job, roce ? roce->trouble() : "");
        else if (!is_one)
            trouble = "ranks ask for different classes of its connections";
        connect();
        channel.set_connected(false, trouble);
        return;
    }
    const bool is_set = roce->set(wanted.front());
    const bool is_everywhere = job.max(is_set ? 0 : 1) == 0;
    channel.set_connected(is_everywhere, is_everywhere ? "" : first_trouble(job, is_set ? "" : roce->trouble()));
    connect();
    job.barrier(); // another rank that shares the adapter may not have its connections yet
}

Grant grant_of(const Channel& channel, const TrafficClass& asked) {
    const Offer& offer = channel.domain().offer();
    const Provider& provider = find_provider(offer.provider());
    if (asked.kind == TrafficClass::Kind::none) return {};
    const auto tclass = tclass_of(asked);
    if (!tclass) {
        if (ServiceLevel::is_taken(offer, asked)) return {true, ""};
        return {false, fmt::format("{} is told no service level", provider.name)};
    }
    if (is_opened_with_class(channel)) return {true, ""};
    if (provider.network == "TCP")
        if (const auto marks = marks_of(asked)) return marked(channel, *marks);
    if (provider.network != "TCP" && gives_class(offer, *tclass)) return {true, ""};
    if (!channel.connection_trouble().empty()) return {false, channel.connection_trouble()};
    return {false, fmt::format("{} does not name it in what it gives", provider.name)};
}

bool shows_class(const Channel& channel, const TrafficClass& asked) {
    return marks_of(asked) &&
           (is_opened_with_class(channel) || find_provider(channel.domain().offer().provider()).network == "TCP");
}

std::unique_ptr<PacketWatch> watch_messages(const Channel& channel, Rank source) {
    const Endpoint& endpoint = channel.endpoint();
    return std::make_unique<PacketWatch>(endpoint.address(),
                                         endpoint.peer_addresses().at(static_cast<std::size_t>(source)));
}

std::string seen_class(const Channel& channel, const TrafficClass& asked, PacketWatch& watch) {
    if (!shows_class(channel, asked)) return {};
    const auto points = is_opened_with_class(channel) ? watch.roce_code_points() : watch.code_points();
    if (points.size() == 1 && points.front() == code_point_of(marks_of(asked)->type_of_service))
        return asked.text();
    std::string text;
    for (const int point : points) text += fmt::format("{}dscp{}", text.empty() ? "" : ",", point);
    return text;
}

} // namespace a2aperf
