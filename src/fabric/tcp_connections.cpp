// SPDX-License-Identifier: BSD-3-Clause
#include "tcp_connections.hpp"

#include <netinet/in.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>

namespace a2aperf {
namespace {

template <class Address, class Port>
std::string joined(const Address& address, const Port& port) {
    return std::string(reinterpret_cast<const char*>(&address), sizeof address) +
           std::string(reinterpret_cast<const char*>(&port), sizeof port);
}

using Name = int (*)(int, sockaddr*, socklen_t*);

std::string place_of_end(int descriptor, Name name) {
    sockaddr_storage address{};
    socklen_t length = sizeof address;
    if (name(descriptor, reinterpret_cast<sockaddr*>(&address), &length) != 0) return {};
    return tcp_place(reinterpret_cast<const sockaddr*>(&address));
}

bool is_stream(int descriptor) {
    return has_socket_option(descriptor, SO_TYPE, SOCK_STREAM) && has_socket_option(descriptor, SO_ACCEPTCONN, 0);
}

} // namespace

bool has_socket_option(int descriptor, int option, int wanted) {
    int value = -1;
    socklen_t length = sizeof value;
    return getsockopt(descriptor, SOL_SOCKET, option, &value, &length) == 0 && value == wanted;
}

std::string tcp_place(const sockaddr* address) {
    if (address->sa_family == AF_INET) {
        sockaddr_in four{};
        std::memcpy(&four, address, sizeof four);
        return joined(four.sin_addr, four.sin_port);
    }
    if (address->sa_family != AF_INET6) return {};
    sockaddr_in6 six{};
    std::memcpy(&six, address, sizeof six);
    const std::string place = joined(six.sin6_addr, six.sin6_port);
    return IN6_IS_ADDR_V4MAPPED(&six.sin6_addr) ? place.substr(12) : place;
}

std::string tcp_place(const std::string& name) {
    sockaddr_storage address{};
    if (name.size() < sizeof(sockaddr_in)) return {};
    std::memcpy(&address, name.data(), std::min(name.size(), sizeof address));
    return tcp_place(reinterpret_cast<const sockaddr*>(&address));
}

std::vector<TcpConnection> tcp_connections(const std::string& own, std::span<const std::string> others) {
    const std::string here = tcp_place(own);
    std::vector<std::string> there;
    for (const std::string& other : others) there.push_back(tcp_place(other));
    std::vector<TcpConnection> found;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", ignored)) {
        const std::string name = entry.path().filename().string();
        int descriptor = -1;
        std::from_chars(name.data(), name.data() + name.size(), descriptor);
        if (descriptor < 0 || !is_stream(descriptor)) continue;
        TcpConnection one{descriptor, place_of_end(descriptor, getsockname), place_of_end(descriptor, getpeername)};
        if (one.here.empty() || one.there.empty()) continue;
        if (one.here == here || std::ranges::find(there, one.there) != there.end()) found.push_back(std::move(one));
    }
    return found;
}

} // namespace a2aperf
