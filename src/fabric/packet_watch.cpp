// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/fabric/packet_watch.hpp"

#include <arpa/inet.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "a2aperf/fabric/class_of_service.hpp"
#include "a2aperf/fabric/tcp_connections.hpp"

namespace a2aperf {
namespace {

constexpr std::size_t kHeaders = 256;   // of IP and TCP, with their options
constexpr std::size_t kRocePort = 4791; // of UDP

struct Headers {
    int protocol;
    std::size_t length;         // of IP's
    std::size_t payload;        // behind it
    std::size_t address, bytes; // where the source's address is, and how long it is
    int type_of_service;
};

std::size_t number(std::span<const unsigned char> bytes, std::size_t at) {
    return std::size_t{bytes[at]} << 8U | bytes[at + 1];
}

// One that was put together of many may be too long to say how long it is, and says 0.
std::size_t told_or_here(std::size_t told, std::size_t here) {
    return told == 0 ? here : told;
}

std::optional<Headers> ip_headers(std::span<const unsigned char> bytes) {
    if (bytes.size() >= 20 && bytes[0] >> 4U == 4) {
        const std::size_t length = (bytes[0] & 0xfU) * std::size_t{4};
        const bool is_first = (number(bytes, 6) & 0x1fffU) == 0; // of its fragments
        const std::size_t all = told_or_here(number(bytes, 2), bytes.size());
        if (length < 20 || all < length || !is_first) return std::nullopt;
        return Headers{bytes[9], length, all - length, 12, 4, bytes[1]};
    }
    if (bytes.size() >= 40 && bytes[0] >> 4U == 6)
        return Headers{bytes[6], 40, told_or_here(number(bytes, 4), bytes.size() - 40),
                       8,        16, static_cast<int>((number(bytes, 0) >> 4U) & 0xffU)};
    return std::nullopt;
}

std::string text(std::span<const unsigned char> bytes, std::size_t at, std::size_t count) {
    return {reinterpret_cast<const char*>(bytes.data()) + at, count};
}

bool is_data_of_tcp(std::span<const unsigned char> tcp, std::size_t payload) {
    return tcp.size() >= 20 && payload > (tcp[12] >> 4U) * std::size_t{4};
}

// Behind UDP's header InfiniBand's begins, with an operation: those of a reliable connection up to the last part of
// the answer to a read carry data or ask for it; an acknowledgement is the next.
bool is_data_of_roce(std::span<const unsigned char> udp) {
    constexpr unsigned char kLastOfAnswer = 0x10;
    return udp.size() >= 20 && number(udp, 2) == kRocePort && udp[8] <= kLastOfAnswer;
}

std::vector<int> without_repeats(std::vector<int> seen) {
    std::ranges::sort(seen);
    seen.erase(std::unique(seen.begin(), seen.end()), seen.end());
    return seen;
}

int open_socket() {
    const int opened = socket(AF_PACKET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, htons(ETH_P_ALL));
    if (opened < 0) return opened;
    // No more of a packet than its headers is copied; more of them may wait than usual.
    sock_filter cut{BPF_RET | BPF_K, 0, 0, kHeaders};
    const sock_fprog program{1, &cut};
    (void)setsockopt(opened, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program);
    constexpr int kRoom = 4 << 20U;
    (void)setsockopt(opened, SOL_SOCKET, SO_RCVBUF, &kRoom, sizeof kRoom);
    return opened;
}

} // namespace

std::optional<Packet> read_packet(std::span<const unsigned char> bytes) {
    const auto headers = ip_headers(bytes);
    if (!headers || bytes.size() < headers->length) return std::nullopt;
    const std::span<const unsigned char> behind = bytes.subspan(headers->length);
    const bool is_roce = headers->protocol == IPPROTO_UDP && is_data_of_roce(behind);
    if (!is_roce && (headers->protocol != IPPROTO_TCP || !is_data_of_tcp(behind, headers->payload)))
        return std::nullopt;
    const std::size_t target = headers->address + headers->bytes;
    return Packet{text(bytes, headers->address, headers->bytes) + text(behind, 0, 2),
                  text(bytes, target, headers->bytes) + text(behind, 2, 2), code_point_of(headers->type_of_service),
                  is_roce};
}

PacketWatch::PacketWatch() : socket_(open_socket()) {}

PacketWatch::~PacketWatch() {
    if (is_open()) close(socket_);
}

void PacketWatch::take() {
    std::array<unsigned char, kHeaders> bytes{};
    sockaddr_ll link{};
    for (;;) {
        socklen_t length = sizeof link;
        const ssize_t count =
            recvfrom(socket_, bytes.data(), bytes.size(), 0, reinterpret_cast<sockaddr*>(&link), &length);
        if (count < 0) return;
        if (link.sll_pkttype == PACKET_OUTGOING) continue; // what leaves has not passed the network
        auto packet = read_packet(std::span(bytes).first(static_cast<std::size_t>(count)));
        if (packet && std::ranges::find(packets_, *packet) == packets_.end())
            packets_.push_back(std::move(*packet));
    }
}

std::vector<int> PacketWatch::code_points(const std::string& own, const std::string& source) {
    if (!is_open()) return {};
    take();
    const std::string host = address_of(tcp_place(source));
    std::vector<int> seen;
    for (const TcpConnection& one : tcp_connections(own, {&source, 1}))
        for (const Packet& packet : packets_)
            if (!packet.is_roce && packet.from == one.there && packet.to == one.here &&
                address_of(packet.from) == host)
                seen.push_back(packet.code_point);
    return without_repeats(std::move(seen));
}

std::vector<int> PacketWatch::roce_code_points(const std::string& own, const std::string& source) {
    if (!is_open()) return {};
    take();
    const std::string here = address_of(tcp_place(own));
    const std::string there = address_of(tcp_place(source));
    std::vector<int> seen;
    for (const Packet& packet : packets_)
        if (packet.is_roce && address_of(packet.from) == there && address_of(packet.to) == here)
            seen.push_back(packet.code_point);
    return without_repeats(std::move(seen));
}

} // namespace a2aperf
