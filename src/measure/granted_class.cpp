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

} // namespace

void connect_as_asked(const Job& job, Channel& channel, const std::function<void()>& connect) {
    constexpr int kNone = -1;
    const auto marks = marks_of(channel.traffic_class());
    std::optional<RoceClass> roce;
    if (marks) roce.emplace(channel.domain().offer());
    // What a port had before is known on all ranks when the first of them sets it.
    const auto wanted = job.all_gather(roce && roce->can_be_set() ? marks->type_of_service : kNone);
    const bool is_one = std::ranges::all_of(wanted, [&](int of_rank) { return of_rank == wanted.front(); });
    if (!is_one || wanted.front() == kNone) {
        connect();
        channel.set_connected(false);
        return;
    }
    const bool is_set = roce->set(wanted.front());
    channel.set_connected(job.max(is_set ? 0 : 1) == 0);
    connect();
    job.barrier(); // another rank that shares the adapter may not have its connections yet
}

bool grants_class(const Channel& channel, const TrafficClass& asked) {
    const Offer& offer = channel.domain().offer();
    const auto tclass = tclass_of(asked);
    if (!tclass) return ServiceLevel::is_taken(offer, asked);
    if (is_opened_with_class(channel)) return true;
    if (find_provider(offer.provider()).network != "TCP") return gives_class(offer, *tclass);
    const auto marks = marks_of(asked);
    if (!marks) return false;
    const MarkedSockets sockets =
        mark_sockets(channel.endpoint().address(), channel.endpoint().peer_addresses(), *marks);
    return sockets.found > 0 && sockets.marked == sockets.found;
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
