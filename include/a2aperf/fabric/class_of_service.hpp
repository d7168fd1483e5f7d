// SPDX-License-Identifier: BSD-3-Clause
// What a class of service is to libfabric, and to the sockets of a provider that moves messages over TCP.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "a2aperf/fabric/offer.hpp"
#include "a2aperf/plan/traffic_class.hpp"

namespace a2aperf {

// fi_tx_attr.tclass; nothing where libfabric has none for it: a service level.
std::optional<std::uint32_t> tclass_of(const TrafficClass& traffic_class);

// Whether the provider, asked for it (fi_getinfo), names it in what it gives: many ignore it.
bool gives_class(const Offer& offer, std::uint32_t tclass);

// While it lives, endpoints that are opened get the service level that was asked for, where the provider takes one
// from a variable: psm2 from HFI_SL. Nothing is set for any other class or provider, and what was there before
// comes back.
class ServiceLevel {
public:
    ServiceLevel(const Offer& offer, const TrafficClass& asked);
    ~ServiceLevel();
    ServiceLevel(const ServiceLevel&) = delete;
    ServiceLevel& operator=(const ServiceLevel&) = delete;

    static bool is_taken(const Offer& offer, const TrafficClass& asked);

private:
    std::string variable_; // empty: none is set
    std::optional<std::string> before_;
};

// What IP and Linux know of a class. A name has the DSCP that RFC 4594 recommends for what it stands for.
struct SocketMarks {
    int type_of_service;         // IP_TOS: the DSCP above two bits of congestion
    std::optional<int> priority; // SO_PRIORITY, of a name; else what the kernel makes of the DSCP
};
std::optional<SocketMarks> marks_of(const TrafficClass& traffic_class);
int code_point_of(int type_of_service); // DSCP

// How many TCP connections of this process lead from one of these addresses of its own or to one of those of
// others, and how many of them have the marks, by getsockopt, after they were set. Addresses as fi_getname gives
// them.
struct MarkedSockets {
    int found = 0, marked = 0;
};
MarkedSockets mark_sockets(const std::string& own, std::span<const std::string> others, const SocketMarks& marks);

} // namespace a2aperf
