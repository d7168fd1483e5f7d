// SPDX-License-Identifier: BSD-3-Clause
#include "nic_port.hpp"

#include <ifaddrs.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstring>
#include <filesystem>
#include <memory>

#include "a2aperf/base/text_file.hpp"

namespace a2aperf {
namespace {

namespace fs = std::filesystem;

bool is_same(const sockaddr& a, const sockaddr& b) {
    if (a.sa_family != b.sa_family) return false;
    if (a.sa_family == AF_INET)
        return reinterpret_cast<const sockaddr_in&>(a).sin_addr.s_addr ==
               reinterpret_cast<const sockaddr_in&>(b).sin_addr.s_addr;
    return a.sa_family == AF_INET6 &&
           std::memcmp(&reinterpret_cast<const sockaddr_in6&>(a).sin6_addr,
                       &reinterpret_cast<const sockaddr_in6&>(b).sin6_addr, sizeof(in6_addr)) == 0;
}

std::string interface_of(const fi_info& info) {
    const bool is_of_ip = info.addr_format == FI_SOCKADDR || info.addr_format == FI_SOCKADDR_IN ||
                          info.addr_format == FI_SOCKADDR_IN6;
    const auto* address = static_cast<const sockaddr*>(info.src_addr);
    if (!is_of_ip || address == nullptr || info.src_addrlen < sizeof(sockaddr_in)) return {};
    if (address->sa_family == AF_INET6 && info.src_addrlen < sizeof(sockaddr_in6)) return {};
    ifaddrs* first = nullptr;
    if (getifaddrs(&first) != 0) return {};
    const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> all(first, freeifaddrs);
    for (const ifaddrs* one = first; one != nullptr; one = one->ifa_next)
        if (one->ifa_addr != nullptr && is_same(*one->ifa_addr, *address)) return one->ifa_name;
    return {};
}

} // namespace

std::string port_of(const Offer& offer, const std::string& device) {
    const std::string interface = interface_of(offer.info());
    if (interface.empty()) return {};
    if (interface == device) return "1";
    std::error_code ignored;
    for (const auto& port : fs::directory_iterator("/sys/class/infiniband/" + device + "/ports", ignored))
        for (const auto& entry : fs::directory_iterator(port.path() / "gid_attrs/ndevs", ignored))
            if (first_line(entry.path()) == interface) return port.path().filename().string();
    return {};
}

} // namespace a2aperf
