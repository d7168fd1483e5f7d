// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/measure/granted_class.hpp"

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

} // namespace a2aperf
