// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/measure/granted_class.hpp"

#include <fmt/format.h>

#include "a2aperf/fabric/class_of_service.hpp"
#include "a2aperf/fabric/provider.hpp"

namespace a2aperf {

bool grants_class(const Channel& channel, const TrafficClass& asked) {
    const Offer& offer = channel.domain().offer();
    const auto tclass = tclass_of(asked);
    if (!tclass) return ServiceLevel::is_taken(offer, asked);
    if (find_provider(offer.provider()).network != "TCP") return gives_class(offer, *tclass);
    const auto marks = marks_of(asked);
    if (!marks) return false;
    const MarkedSockets sockets =
        mark_sockets(channel.endpoint().address(), channel.endpoint().peer_addresses(), *marks);
    return sockets.found > 0 && sockets.marked == sockets.found;
}

bool shows_class(const Channel& channel, const TrafficClass& asked) {
    return marks_of(asked) && find_provider(channel.domain().offer().provider()).network == "TCP";
}

std::string seen_class(const Channel& channel, const TrafficClass& asked, Rank source, PacketWatch& watch) {
    if (!shows_class(channel, asked)) return {};
    const Endpoint& endpoint = channel.endpoint();
    const auto points =
        watch.code_points(endpoint.address(), endpoint.peer_addresses().at(static_cast<std::size_t>(source)));
    if (points.size() == 1 && points.front() == code_point_of(marks_of(asked)->type_of_service))
        return asked.text();
    std::string text;
    for (const int point : points) text += fmt::format("{}dscp{}", text.empty() ? "" : ",", point);
    return text;
}

} // namespace a2aperf
