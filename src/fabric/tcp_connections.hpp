// SPDX-License-Identifier: BSD-3-Clause
// The TCP connections of an endpoint. A provider does not hand its sockets out: they are looked for among the
// process's descriptors.
#pragma once

#include <sys/socket.h>

#include <span>
#include <string>
#include <vector>

namespace a2aperf {

struct TcpConnection {
    int descriptor;
    std::string here, there; // places of its ends
};

// Where a connection leads: address and port as they are in a packet, one behind the other; empty where it is of no
// IP. An IPv4 address that is written as one of IPv6 is the former.
std::string tcp_place(const sockaddr* address);
std::string tcp_place(const std::string& name); // as fi_getname gives it

// The same of a place without its port.
inline std::string address_of(const std::string& place) {
    return place.size() < 2 ? std::string() : place.substr(0, place.size() - 2);
}

// Whether an option of the level SOL_SOCKET has that value.
bool has_socket_option(int descriptor, int option, int wanted);

// Those that lead from `own` or to one of `others`, which are names.
std::vector<TcpConnection> tcp_connections(const std::string& own, std::span<const std::string> others);

} // namespace a2aperf
