// SPDX-License-Identifier: BSD-3-Clause
// Looks at packets of TCP and RoCE connections as they come to this host: which class of service the network has
// left them.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace a2aperf {

struct Packet {
    std::string from, to; // places of its ends (fabric/tcp_connections.hpp)
    int code_point;       // DSCP
    bool is_roce;
    bool operator==(const Packet&) const = default;
};

// Of the first bytes of an IP packet, from its header on. Nothing where it is neither of TCP nor of a RoCE
// connection, carries no data, or is cut before the end of its headers.
std::optional<Packet> read_packet(std::span<const unsigned char> bytes);

// Of the messages that come to the endpoint `own` from the endpoint `source`, from now on. Names are as fi_getname
// gives them.
class PacketWatch {
public:
    // Without the privilege that the kernel asks for (CAP_NET_RAW) nothing is seen.
    PacketWatch(std::string own, std::string source);
    ~PacketWatch();
    PacketWatch(const PacketWatch&) = delete;
    PacketWatch& operator=(const PacketWatch&) = delete;

    bool is_open() const { return socket_ >= 0; }

    // The code points of what has come so far over connections of the two, in ascending order, none twice.
    std::vector<int> code_points();
    // The same of all RoCE connections between these two hosts' addresses: a packet does not tell which of them it
    // is of. Packets that an adapter takes in by itself the kernel never sees.
    std::vector<int> roce_code_points();

private:
    void take();

    std::string own_, source_;
    int socket_;
    std::vector<Packet> packets_; // none twice
};

} // namespace a2aperf
