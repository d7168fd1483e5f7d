// SPDX-License-Identifier: BSD-3-Clause
// On connections of this process with itself.
#include "a2aperf/fabric/class_of_service.hpp"

#include <netinet/in.h>
#include <netinet/ip.h>
#include <rdma/fabric.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <string>
#include <utility>

#include <doctest/doctest.h>

using namespace a2aperf;

namespace {

struct Socket {
    explicit Socket(int family) : descriptor(socket(family, SOCK_STREAM, 0)) {}
    explicit Socket(const Socket& listener, int) : descriptor(accept(listener.descriptor, nullptr, nullptr)) {}
    ~Socket() { close(descriptor); }
    Socket(const Socket&) = delete;
    Socket& operator=(const Socket&) = delete;

    int option(int level, int name) const {
        int value = -1;
        socklen_t length = sizeof value;
        CHECK(getsockopt(descriptor, level, name, &value, &length) == 0);
        return value;
    }
    // As fi_getname gives it.
    std::string name() const {
        sockaddr_storage address{};
        socklen_t length = sizeof address;
        CHECK(getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &length) == 0);
        return {reinterpret_cast<const char*>(&address), length};
    }

    int descriptor;
};

bool listen_here(const Socket& listener, int family) {
    sockaddr_in four{};
    four.sin_family = AF_INET;
    four.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    sockaddr_in6 six{};
    six.sin6_family = AF_INET6;
    six.sin6_addr = in6addr_loopback;
    const auto* address =
        family == AF_INET ? reinterpret_cast<const sockaddr*>(&four) : reinterpret_cast<const sockaddr*>(&six);
    const socklen_t length = family == AF_INET ? sizeof four : sizeof six;
    return listener.descriptor >= 0 && bind(listener.descriptor, address, length) == 0 &&
           listen(listener.descriptor, 1) == 0;
}

} // namespace

TEST_CASE("a connection has the type of service and the priority of its class, over both versions of IP") {
    struct Wanted {
        const char* name;
        int type_of_service, priority;
    };
    // Of low-latency the type of service alone would make it 4 to the kernel, and 2 of dedicated-access.
    const std::array<Wanted, 5> all{{{"low-latency", 46 << 2, 6},
                                     {"dedicated-access", 34 << 2, 4},
                                     {"bulk", 10 << 2, 2},
                                     {"scavenger", 8 << 2, 1},
                                     {"best-effort", 0, 0}}};
    for (const int family : {AF_INET, AF_INET6}) {
        CAPTURE(family);
        const Socket listener(family), client(family);
        if (!listen_here(listener, family)) {
            MESSAGE("skipped: no loopback address of family ", family);
            continue;
        }
        const std::string there = listener.name();
        REQUIRE(connect(client.descriptor, reinterpret_cast<const sockaddr*>(there.data()),
                        static_cast<socklen_t>(there.size())) == 0);
        const Socket server(listener, 0);
        const int level = family == AF_INET ? IPPROTO_IP : IPPROTO_IPV6;
        const int name = family == AF_INET ? IP_TOS : IPV6_TCLASS;
        for (const Wanted& wanted : all) {
            CAPTURE(wanted.name);
            const auto marks = marks_of(TrafficClass::parse(wanted.name));
            REQUIRE(marks);
            const MarkedSockets sockets = mark_sockets(client.name(), {}, *marks);
            CHECK(sockets.found == 1);
            CHECK(sockets.marked == 1);
            CHECK(client.option(level, name) == wanted.type_of_service);
            CHECK(client.option(SOL_SOCKET, SO_PRIORITY) == wanted.priority);
            CHECK(server.option(level, name) == 0); // the other end is its owner's
        }
        // By its peer; of a DSCP by itself the priority is the kernel's business.
        const std::array<std::string, 1> others{there};
        CHECK(mark_sockets({}, others, *marks_of(TrafficClass::parse("dscp11"))).marked >= 1);
        CHECK(client.option(level, name) == 11 << 2);
    }
}

TEST_CASE("what an offer is opened with has the class of its messages") {
    InfoPtr info(fi_allocinfo());
    Offer offer(std::move(info));
    offer.set_traffic_class(FI_TC_BULK_DATA);
    CHECK(offer.info().tx_attr->tclass == FI_TC_BULK_DATA);
    CHECK(offer.info().domain_attr->tclass == FI_TC_BULK_DATA);
    const Offer copy = offer;
    CHECK(copy.info().tx_attr->tclass == FI_TC_BULK_DATA);
}
