// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/fabric/class_of_service.hpp"

#include <netinet/in.h>
#include <netinet/ip.h>
#include <rdma/fabric.h>
#include <sys/socket.h>

#include <array>
#include <cstdlib>

#include "a2aperf/fabric/provider.hpp"
#include "tcp_connections.hpp"

namespace a2aperf {
namespace {

struct NamedClass {
    std::uint32_t tclass;
    int dscp, priority;
};

// In the order of the names in TrafficClass. DSCPs: DF, EF, AF41, AF11, CS1, CS6; priorities: those that Linux
// gives the old types of service (TC_PRIO_…): best effort, interactive, interactive bulk, bulk, filler, control.
constexpr std::array<NamedClass, 6> kNamed{{{FI_TC_BEST_EFFORT, 0, 0},
                                            {FI_TC_LOW_LATENCY, 46, 6},
                                            {FI_TC_DEDICATED_ACCESS, 34, 4},
                                            {FI_TC_BULK_DATA, 10, 2},
                                            {FI_TC_SCAVENGER, 8, 1},
                                            {FI_TC_NETWORK_CTRL, 48, 7}}};
constexpr int kCongestionBits = 2;

bool set_priority(int descriptor, int priority) {
    return setsockopt(descriptor, SOL_SOCKET, SO_PRIORITY, &priority, sizeof priority) == 0 &&
           has_socket_option(descriptor, SO_PRIORITY, priority);
}

// The kernel keeps the bits by which a stream tells of congestion, and gives them back with the rest.
bool set_type_of_service(int descriptor, int level, int option, int value) {
    int now = -1;
    socklen_t length = sizeof now;
    return setsockopt(descriptor, level, option, &value, sizeof value) == 0 &&
           getsockopt(descriptor, level, option, &now, &length) == 0 && code_point_of(now) == code_point_of(value);
}

// The type of service first: setting it changes the priority, too.
bool mark(int descriptor, const SocketMarks& marks) {
    int family = 0;
    socklen_t length = sizeof family;
    if (getsockopt(descriptor, SOL_SOCKET, SO_DOMAIN, &family, &length) != 0) return false;
    const bool is_marked = family == AF_INET6
                               ? set_type_of_service(descriptor, IPPROTO_IPV6, IPV6_TCLASS, marks.type_of_service)
                               : set_type_of_service(descriptor, IPPROTO_IP, IP_TOS, marks.type_of_service);
    const bool is_first = !marks.priority || set_priority(descriptor, *marks.priority);
    return is_marked && is_first;
}

} // namespace

std::optional<std::uint32_t> tclass_of(const TrafficClass& traffic_class) {
    switch (traffic_class.kind) {
    case TrafficClass::Kind::named:
        return kNamed.at(static_cast<std::size_t>(traffic_class.value)).tclass;
    case TrafficClass::Kind::dscp:
        return fi_tc_dscp_set(static_cast<std::uint8_t>(traffic_class.value));
    case TrafficClass::Kind::none:
    case TrafficClass::Kind::service_level:
        break;
    }
    return std::nullopt;
}

bool gives_class(const Offer& offer, std::uint32_t tclass) {
    Offer asked = offer;
    asked.set_traffic_class(tclass);
    fi_info* found = nullptr;
    (void)fi_getinfo(asked.info().fabric_attr->api_version, nullptr, nullptr, 0, &asked.info(), &found);
    const InfoPtr list(found); // none where it refuses
    for (const fi_info* info = found; info != nullptr; info = info->next)
        if (asked.provider() == info->fabric_attr->prov_name && asked.domain() == info->domain_attr->name &&
            info->tx_attr->tclass == tclass)
            return true;
    return false;
}

bool ServiceLevel::is_taken(const Offer& offer, const TrafficClass& asked) {
    return asked.kind == TrafficClass::Kind::service_level &&
           !find_provider(offer.provider()).service_level.empty();
}

ServiceLevel::ServiceLevel(const Offer& offer, const TrafficClass& asked) {
    if (!is_taken(offer, asked)) return;
    variable_ = find_provider(offer.provider()).service_level;
    if (const char* value = std::getenv(variable_.c_str())) before_ = value;
    setenv(variable_.c_str(), std::to_string(asked.value).c_str(), 1);
}

ServiceLevel::~ServiceLevel() {
    if (variable_.empty()) return;
    if (before_)
        setenv(variable_.c_str(), before_->c_str(), 1);
    else
        unsetenv(variable_.c_str());
}

std::optional<SocketMarks> marks_of(const TrafficClass& traffic_class) {
    if (traffic_class.kind == TrafficClass::Kind::dscp)
        return SocketMarks{traffic_class.value << kCongestionBits, {}};
    if (traffic_class.kind != TrafficClass::Kind::named) return std::nullopt;
    const NamedClass& named = kNamed.at(static_cast<std::size_t>(traffic_class.value));
    return SocketMarks{named.dscp << kCongestionBits, named.priority};
}

int code_point_of(int type_of_service) {
    return type_of_service >> kCongestionBits;
}

MarkedSockets mark_sockets(const std::string& own, std::span<const std::string> others, const SocketMarks& marks) {
    MarkedSockets sockets;
    for (const TcpConnection& one : tcp_connections(own, others)) {
        ++sockets.found;
        if (mark(one.descriptor, marks)) ++sockets.marked;
    }
    return sockets;
}

} // namespace a2aperf
