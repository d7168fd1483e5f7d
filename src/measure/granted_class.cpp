// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/measure/granted_class.hpp"

#include "a2aperf/fabric/class_of_service.hpp"
#include "a2aperf/fabric/provider.hpp"

namespace a2aperf {

bool grants_class(const Channel& channel, const TrafficClass& asked) {
    if (!tclass_of(asked)) return false;
    const auto marks = marks_of(asked);
    if (!marks || find_provider(channel.domain().offer().provider()).network != "TCP") return true;
    const MarkedSockets sockets =
        mark_sockets(channel.endpoint().address(), channel.endpoint().peer_addresses(), *marks);
    return sockets.marked == sockets.found;
}

} // namespace a2aperf
