// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/fabric/packet_watch.hpp"

#include <netinet/in.h>
#include <netinet/ip.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>

#include <doctest/doctest.h>

#include "fabric/tcp_connections.hpp"

using namespace a2aperf;

namespace {

using PacketBytes = std::vector<unsigned char>;

// From 10.0.0.1 port 258 to 10.0.0.2 port 772, with so many bytes of data.
PacketBytes four(int type_of_service, std::size_t data) {
    PacketBytes packet(40 + data);
    packet[0] = 0x45;
    packet[1] = static_cast<unsigned char>(type_of_service);
    packet[3] = static_cast<unsigned char>(packet.size());
    packet[9] = IPPROTO_TCP;
    const std::array<unsigned char, 12> places{10, 0, 0, 1, 10, 0, 0, 2, 1, 2, 3, 4};
    std::copy(places.begin(), places.end(), packet.begin() + 12);
    packet[32] = 0x50;
    return packet;
}

// The same ports, between ::1 and ::2.
PacketBytes six(int traffic_class, std::size_t data) {
    PacketBytes packet(60 + data);
    packet[0] = static_cast<unsigned char>(0x60 | traffic_class >> 4);
    packet[1] = static_cast<unsigned char>(traffic_class << 4);
    packet[5] = static_cast<unsigned char>(20 + data);
    packet[6] = IPPROTO_TCP;
    packet[23] = 1;
    packet[39] = 2;
    const std::array<unsigned char, 4> ports{1, 2, 3, 4};
    std::copy(ports.begin(), ports.end(), packet.begin() + 40);
    packet[52] = 0x50;
    return packet;
}

// From 10.0.0.1 to 10.0.0.2: InfiniBand's header with this operation, behind that of UDP.
PacketBytes roce(int type_of_service, unsigned char operation) {
    PacketBytes packet = four(type_of_service, 0);
    packet[9] = IPPROTO_UDP;
    packet[22] = 4791 >> 8;
    packet[23] = 4791 & 0xff;
    packet[28] = operation;
    return packet;
}

std::string name_of(const sockaddr_in& address) {
    return {reinterpret_cast<const char*>(&address), sizeof address};
}

// Both ends of a connection over the loopback interface.
struct Connection {
    Connection() {
        sockaddr_in any{};
        any.sin_family = AF_INET;
        any.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        auto* const place = reinterpret_cast<sockaddr*>(&listening);
        socklen_t length = sizeof listening;
        REQUIRE(bind(listener, reinterpret_cast<const sockaddr*>(&any), sizeof any) == 0);
        REQUIRE(listen(listener, 1) == 0);
        REQUIRE(getsockname(listener, place, &length) == 0);
        REQUIRE(connect(sender, place, length) == 0);
        receiver = accept(listener, nullptr, nullptr);
        REQUIRE(receiver >= 0);
    }
    ~Connection() {
        for (const int one : {listener, sender, receiver}) close(one);
    }
    void send(int code_point) const {
        const int type_of_service = code_point << 2;
        REQUIRE(setsockopt(sender, IPPROTO_IP, IP_TOS, &type_of_service, sizeof type_of_service) == 0);
        REQUIRE(write(sender, "data", 4) == 4);
        std::array<char, 4> came{};
        REQUIRE(recv(receiver, came.data(), came.size(), MSG_WAITALL) == 4);
    }

    int listener = socket(AF_INET, SOCK_STREAM, 0), sender = socket(AF_INET, SOCK_STREAM, 0), receiver = -1;
    sockaddr_in listening{};
};

// From the one end to the other, of which only the latter has a name.
PacketWatch watch_of(const Connection& connection) {
    const std::string name = name_of(connection.listening);
    return {name, name};
}

} // namespace

TEST_CASE("of a packet that carries data the ends and the code point are read") {
    const auto packet = read_packet(four(46 << 2 | 1, 3));
    REQUIRE(packet);
    CHECK(packet->from == std::string("\x0a\0\0\x01\x01\x02", 6));
    CHECK(packet->to == std::string("\x0a\0\0\x02\x03\x04", 6));
    CHECK(packet->code_point == 46);
    const auto of_six = read_packet(six(10 << 2 | 2, 1));
    REQUIRE(of_six);
    CHECK(of_six->from == std::string(15, '\0') + "\x01\x01\x02");
    CHECK(of_six->to == std::string(15, '\0') + "\x02\x03\x04");
    CHECK(of_six->code_point == 10);
}

TEST_CASE("of RoCE what a connection carries is read, and no acknowledgement") {
    constexpr unsigned char kSend = 0x04, kWrite = 0x0a, kRead = 0x0c, kAnswer = 0x10, kAcknowledgement = 0x11;
    for (const unsigned char operation : {kSend, kWrite, kRead, kAnswer}) {
        const auto packet = read_packet(roce(26 << 2 | 2, operation));
        REQUIRE(packet);
        CHECK(packet->is_roce);
        CHECK(packet->code_point == 26);
        CHECK(address_of(packet->from) == std::string("\x0a\0\0\x01", 4));
        CHECK(address_of(packet->to) == std::string("\x0a\0\0\x02", 4));
    }
    CHECK_FALSE(read_packet(roce(0, kAcknowledgement)));
    CHECK_FALSE(read_packet(roce(0, 0x64))); // a datagram, of no connection
    PacketBytes other = roce(0, kSend);
    other[23] = 0;
    CHECK_FALSE(read_packet(other));
    const PacketBytes whole = roce(0, kSend);
    for (std::size_t length = 0; length < whole.size(); ++length)
        CHECK_FALSE(read_packet(std::span(whole).first(length)));
    REQUIRE(read_packet(four(0, 1)));
    CHECK_FALSE(read_packet(four(0, 1))->is_roce);
}

TEST_CASE("what carries no data, is neither of TCP nor RoCE or is cut says nothing") {
    CHECK_FALSE(read_packet(four(0, 0)));
    CHECK_FALSE(read_packet(six(0, 0)));
    PacketBytes padded = four(0, 0); // to the least that a frame has
    padded.resize(46);
    CHECK_FALSE(read_packet(padded));
    PacketBytes other = four(0, 3);
    other[9] = IPPROTO_UDP;
    CHECK_FALSE(read_packet(other));
    PacketBytes part = four(0, 3); // not the first fragment: it has no ports
    part[7] = 1;
    CHECK_FALSE(read_packet(part));
    for (const PacketBytes& whole : {four(0, 3), six(0, 3)})
        for (std::size_t length = 0; length < whole.size() - 3; ++length)
            CHECK_FALSE(read_packet(std::span(whole).first(length)));
    PacketBytes long_header = four(0, 3);
    long_header[0] = 0x4f;
    CHECK_FALSE(read_packet(long_header));
    PacketBytes many = four(0, 3); // put together of many: it says 0
    many[3] = 0;
    CHECK(read_packet(many));
}

TEST_CASE("what comes over a connection is seen with the class it has, from both of its ends") {
    const Connection connection;
    const Connection another;
    PacketWatch watch = watch_of(connection), of_another = watch_of(another);
    if (!watch.is_open()) {
        MESSAGE("skipped: CAP_NET_RAW is not given here");
        return;
    }
    CHECK(watch.code_points().empty());
    connection.send(46);
    CHECK(watch.code_points() == std::vector<int>{46});
    connection.send(10);
    CHECK(watch.code_points() == std::vector<int>{10, 46});
    CHECK(of_another.code_points().empty());
}

TEST_CASE("what others send meanwhile leaves room for what is looked for") {
    const Connection connection, another;
    PacketWatch watch = watch_of(connection);
    if (!watch.is_open()) {
        MESSAGE("skipped: CAP_NET_RAW is not given here");
        return;
    }
    for (int i = 0; i < 20000; ++i) another.send(0);
    connection.send(46);
    CHECK(watch.code_points() == std::vector<int>{46});
}

TEST_CASE("an IPv4 address that is written as one of IPv6 is the same place") {
    sockaddr_in four{};
    four.sin_family = AF_INET;
    four.sin_port = htons(258);
    four.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    sockaddr_in6 mapped{};
    mapped.sin6_family = AF_INET6;
    mapped.sin6_port = htons(258);
    mapped.sin6_addr.s6_addr[10] = mapped.sin6_addr.s6_addr[11] = 0xff;
    mapped.sin6_addr.s6_addr[12] = 127;
    mapped.sin6_addr.s6_addr[15] = 1;
    const std::string place = tcp_place(reinterpret_cast<const sockaddr*>(&four));
    CHECK(place == std::string("\x7f\0\0\x01\x01\x02", 6));
    CHECK(tcp_place(reinterpret_cast<const sockaddr*>(&mapped)) == place);
    CHECK(address_of(place) == place.substr(0, 4));
    CHECK(tcp_place(std::string("short")).empty());
    sockaddr unknown{};
    CHECK(tcp_place(&unknown).empty());
}
