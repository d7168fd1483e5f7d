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
#include <utility>

#include "a2aperf/fabric/class_of_service.hpp"
#include "tcp_connections.hpp"

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

// How much of a packet is kept: its headers, and nothing of one that leaves, for it has not passed the network, or
// is of other ports. What other programs send at the same time would take the room that there is for what is looked
// for.
std::vector<sock_filter> only_between(std::uint32_t from, std::uint32_t to) {
    constexpr std::uint32_t kKind = static_cast<std::uint32_t>(SKF_AD_OFF) + SKF_AD_PKTTYPE;
    return {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kKind),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PACKET_OUTGOING, 13, 0),
        BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 0), // the version of IP
        BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0xf0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x60, 0, 2),
        BPF_STMT(BPF_LDX | BPF_W | BPF_IMM, 40),
        BPF_STMT(BPF_JMP | BPF_JA, 2),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x40, 0, 7),
        BPF_STMT(BPF_LDX | BPF_B | BPF_MSH, 0), // how long IPv4's header is
        BPF_STMT(BPF_LD | BPF_H | BPF_IND, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, from, 3, 0),
        BPF_STMT(BPF_LD | BPF_H | BPF_IND, 2),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, to, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kRocePort, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, kHeaders),
        BPF_STMT(BPF_RET | BPF_K, 0),
    };
}

// As it is in a packet; 0, which no packet has, where the name is of no IP.
std::uint32_t port_of(const std::string& name) {
    const std::string place = tcp_place(name);
    if (place.size() < 2) return 0;
    const auto byte = [&](std::size_t from_end) {
        return std::uint32_t{static_cast<unsigned char>(place[place.size() - from_end])};
    };
    return byte(2) << 8U | byte(1);
}

int open_socket(const std::string& own, const std::string& source) {
    const int opened = socket(AF_PACKET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (opened < 0) return opened;
    std::vector<sock_filter> filter = only_between(port_of(source), port_of(own));
    const sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
    // More of them may wait than usual.
    constexpr int kRoom = 4 << 20U;
    if (setsockopt(opened, SOL_SOCKET, SO_RCVBUFFORCE, &kRoom, sizeof kRoom) != 0)
        (void)setsockopt(opened, SOL_SOCKET, SO_RCVBUF, &kRoom, sizeof kRoom);
    // Nothing comes before it is bound, and nothing may without the filter.
    sockaddr_ll all{};
    all.sll_family = AF_PACKET;
    all.sll_protocol = htons(ETH_P_ALL);
    if (setsockopt(opened, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) == 0 &&
        bind(opened, reinterpret_cast<const sockaddr*>(&all), sizeof all) == 0)
        return opened;
    close(opened);
    return -1;
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

PacketWatch::PacketWatch(std::string own, std::string source)
    : own_(std::move(own)), source_(std::move(source)), socket_(open_socket(own_, source_)) {}

PacketWatch::~PacketWatch() {
    if (is_open()) close(socket_);
}

void PacketWatch::take() {
    std::array<unsigned char, kHeaders> bytes{};
    for (;;) {
        const ssize_t count = recv(socket_, bytes.data(), bytes.size(), 0);
        if (count < 0) return;
        auto packet = read_packet(std::span(bytes).first(static_cast<std::size_t>(count)));
        if (packet && std::ranges::find(packets_, *packet) == packets_.end())
            packets_.push_back(std::move(*packet));
    }
}

std::vector<int> PacketWatch::code_points() {
    if (!is_open()) return {};
    take();
    const std::string host = address_of(tcp_place(source_));
    std::vector<int> seen;
    for (const TcpConnection& one : tcp_connections(own_, {&source_, 1}))
        for (const Packet& packet : packets_)
            if (!packet.is_roce && packet.from == one.there && packet.to == one.here &&
                address_of(packet.from) == host)
                seen.push_back(packet.code_point);
    return without_repeats(std::move(seen));
}

std::vector<int> PacketWatch::roce_code_points() {
    if (!is_open()) return {};
    take();
    const std::string here = address_of(tcp_place(own_));
    const std::string there = address_of(tcp_place(source_));
    std::vector<int> seen;
    for (const Packet& packet : packets_)
        if (packet.is_roce && address_of(packet.from) == there && address_of(packet.to) == here)
            seen.push_back(packet.code_point);
    return without_repeats(std::move(seen));
}

} // namespace a2aperf
