// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/fabric/nic.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <set>
#include <sstream>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "a2aperf/base/error.hpp"
#include "a2aperf/base/text_file.hpp"
#include "nic_port.hpp"

namespace a2aperf {
namespace {

namespace fs = std::filesystem;

int to_int(const std::string& text, int otherwise) {
    int value = otherwise;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

// Counters outgrow an int soon; the first character tells a number from words.
bool holds_count(const fs::path& path) {
    const std::string line = first_line(path);
    return !line.empty() && line.front() >= '0' && line.front() <= '9';
}

bool exists(const fs::path& path) {
    std::error_code ignored;
    return fs::exists(path, ignored);
}

// The PCI capability "Device Control" holds the largest read request in bits 12 to 14; only root may read it.
std::string max_read_request(const fs::path& device) {
    std::ifstream file(device / "config", std::ios::binary);
    std::vector<unsigned char> config(256);
    file.read(reinterpret_cast<char*>(config.data()), static_cast<std::streamsize>(config.size()));
    if (file.gcount() < 256) return {};
    constexpr unsigned kPciExpress = 0x10;
    for (std::size_t at = config[0x34]; at >= 0x40 && at + 10 < config.size(); at = config[at + 1])
        if (config[at] == kPciExpress) return std::to_string(128 << ((config[at + 9] >> 4) & 7));
    return {};
}

void read_device(const fs::path& device, NicFacts& nic) {
    std::error_code ignored;
    nic.driver = fs::read_symlink(device / "driver", ignored).filename().string();
    nic.numa_node = to_int(first_line(device / "numa_node"), -1);
    nic.pcie_width = first_line(device / "current_link_width");
    nic.pcie_speed = first_line(device / "current_link_speed");
    nic.max_read_request = max_read_request(device);
}

// The rate is that of its first port where nobody knows which one is used.
NicFacts rdma_nic(const std::string& name, const std::string& port) {
    NicFacts nic;
    nic.name = name;
    nic.port = port;
    nic.is_rdma = true;
    const fs::path folder = fs::path("/sys/class/infiniband") / name;
    read_device(folder / "device", nic);
    nic.firmware = first_line(folder / "fw_ver");
    const std::string rate =
        first_line(folder / "ports" / (port.empty() ? "1" : port) / "rate"); // "100 Gb/sec (4X EDR)"
    if (const int gbps = to_int(rate, -1); gbps > 0) nic.link_rate_gbps = gbps;
    return nic;
}

NicFacts ethernet_nic(const std::string& name, const std::string& port) {
    NicFacts nic;
    nic.name = name;
    nic.port = port;
    const fs::path folder = fs::path("/sys/class/net") / name;
    read_device(folder / "device", nic);
    nic.mtu = first_line(folder / "mtu");
    if (const int mbps = to_int(first_line(folder / "speed"), -1); mbps > 0) nic.link_rate_gbps = mbps / 1e3;
    return nic;
}

std::string strip_layer(std::string name) { // "mlx5_0-dgram", "mlx5_0-rdm"
    if (const auto dash = name.find('-'); dash != std::string::npos && !exists("/sys/class/infiniband/" + name))
        name.resize(dash);
    return name;
}

enum class AddressKind { none, loopback, link_local, global6, global4 };

AddressKind address_kind(const fi_info& info) {
    const auto* address = static_cast<const sockaddr*>(info.src_addr);
    if (address == nullptr || info.src_addrlen < sizeof(sockaddr_in)) return AddressKind::none;
    if (address->sa_family == AF_INET) {
        const auto host = ntohl(reinterpret_cast<const sockaddr_in*>(address)->sin_addr.s_addr);
        return host >> 24 == 127 ? AddressKind::loopback : AddressKind::global4;
    }
    if (address->sa_family != AF_INET6 || info.src_addrlen < sizeof(sockaddr_in6)) return AddressKind::none;
    const auto& host = reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr;
    if (IN6_IS_ADDR_LOOPBACK(&host)) return AddressKind::loopback;
    return IN6_IS_ADDR_LINKLOCAL(&host) ? AddressKind::link_local : AddressKind::global6;
}

// Lower is better. A link-local address needs a scope that peers cannot know.
int address_penalty(AddressKind kind, bool spans_hosts) {
    switch (kind) {
    case AddressKind::loopback:
        return spans_hosts ? 3 : 0;
    case AddressKind::none:
    case AddressKind::global4:
        return 1;
    case AddressKind::global6:
        return 2;
    case AddressKind::link_local:
        return 4;
    }
    return 4;
}

// "0:mlx5_0,1:mlx5_1" → the name for this local rank; nothing when the text is no map.
std::optional<std::string> from_rank_map(const NicWish& wish) {
    if (wish.text.find(':') == std::string::npos) return std::nullopt;
    std::size_t at = 0;
    while (at < wish.text.size()) {
        const auto comma = std::min(wish.text.find(',', at), wish.text.size());
        const std::string item = wish.text.substr(at, comma - at);
        const auto colon = item.find(':');
        if (colon != std::string::npos && to_int(item.substr(0, colon), -1) == wish.local_rank)
            return item.substr(colon + 1);
        at = comma + 1;
    }
    throw UsageError(
        fmt::format("--nic '{}' has no adapter for local rank {}: give LOCALRANK:NAME for each rank of a "
                    "node, e.g. 0:mlx5_0,1:mlx5_1",
                    wish.text, wish.local_rank));
}

} // namespace

namespace {

NicFacts nic_from_sysfs(const Offer& offer) {
    const std::string domain = offer.domain();
    if (const std::string name = strip_layer(domain); exists("/sys/class/infiniband/" + name))
        return rdma_nic(name, port_of(offer, name));
    const std::string port = port_of(offer, domain);
    if (exists("/sys/class/net/" + domain)) return ethernet_nic(domain, port);
    // psm2 names its domain after itself; the unit is HFI_UNIT or the first.
    const std::string provider = offer.provider();
    if (provider == "psm2" || provider == "opx") {
        const char* unit = std::getenv("HFI_UNIT");
        const std::string name = fmt::format("hfi1_{}", unit != nullptr ? unit : "0");
        if (exists("/sys/class/infiniband/" + name)) return rdma_nic(name, port);
    }
    NicFacts nic;
    nic.port = port;
    return nic;
}

} // namespace

NicFacts nic_of(const Offer& offer) {
    NicFacts nic = nic_from_sysfs(offer);
    // The provider's own word on the link rate, in bit/s, where it has one. Of a network interface it knows no more
    // than the kernel; where the kernel knows nothing, newer libfabrics say 100 Mbit/s.
    if (!nic.name.empty() && !nic.is_rdma) return nic;
    const fid_nic* said = offer.info().nic;
    const bool is_interface = address_kind(offer.info()) != AddressKind::none;
    if (nic.name.empty() && !is_interface && said != nullptr && said->device_attr != nullptr &&
        said->device_attr->name != nullptr)
        nic.name = said->device_attr->name; // of a kind of device that is not looked at above, such as cxi
    if (said != nullptr && said->link_attr != nullptr && said->link_attr->speed > 0)
        nic.link_rate_gbps = static_cast<double>(said->link_attr->speed) / 1e9;
    return nic;
}

std::vector<std::pair<std::string, std::string>> port_counter_paths(const NicFacts& nic) {
    std::vector<std::pair<std::string, std::string>> paths;
    if (nic.name.empty()) return paths;
    std::vector<std::pair<std::string, fs::path>> folders;
    std::error_code ignored;
    if (nic.is_rdma) {
        const fs::path root = fs::path("/sys/class/infiniband") / nic.name;
        folders.emplace_back(nic.name + "/hw_counters", root / "hw_counters");
        for (const auto& port : fs::directory_iterator(root / "ports", ignored))
            for (const char* kind : {"counters", "hw_counters"})
                folders.emplace_back(fmt::format("{}/{}/{}", nic.name, port.path().filename().string(), kind),
                                     port.path() / kind);
    } else {
        folders.emplace_back(nic.name + "/statistics", fs::path("/sys/class/net") / nic.name / "statistics");
    }
    for (const auto& [name, folder] : folders)
        for (const auto& entry : fs::directory_iterator(folder, ignored))
            if (holds_count(entry.path()) && entry.path().filename() != "lifespan")
                paths.emplace_back(fmt::format("{}/{}", name, entry.path().filename().string()),
                                   entry.path().string());
    std::sort(paths.begin(), paths.end());
    return paths;
}

namespace {

// Why the system lets nothing pass it now; empty where it does, or says nothing of it.
std::string why_down(const std::string& name, const std::string& port) {
    const fs::path ports = fs::path("/sys/class/infiniband") / name / "ports";
    const std::string of_port = port.empty() ? "1" : port;
    const std::string state = first_line(ports / of_port / "state"); // "4: ACTIVE"
    if (!state.empty() && !state.starts_with("4:")) return fmt::format("its port {} is {}", of_port, state);
    const std::string link = first_line(fs::path("/sys/class/net") / name / "operstate");
    for (const char* down : {"down", "lowerlayerdown", "notpresent"})
        if (link == down) return fmt::format("its link is {}", link);
    return {};
}

} // namespace

std::string why_far(int numa_node, const std::string& name, const Locality& here, const DistanceTo& distance_to) {
    constexpr int kLocal = 10;
    if (numa_node < 0 || here.machine_numa_nodes <= 1) return {};
    if (here.numa_nodes.size() > 1)
        return fmt::format("not bound to one NUMA node, while {} is at node {}", name, numa_node);
    const int distance = distance_to(here.numa_nodes, numa_node).value_or(kLocal);
    return distance > kLocal ? fmt::format("far from {}: distance {} (10 is local)", name, distance) : "";
}

std::string why_far(std::span<const std::pair<int, std::string>> adapters, const Locality& here,
                    const DistanceTo& distance) {
    std::vector<std::string> far;
    for (const auto& [numa_node, name] : adapters) {
        std::string why = why_far(numa_node, name, here, distance);
        if (!why.empty() && std::ranges::find(far, why) == far.end()) far.push_back(std::move(why));
    }
    return fmt::format("{}", fmt::join(far, "; "));
}

NicChoice choose_nic(const std::vector<Offer>& offers, const NicWish& wish) {
    const std::string asked = wish.text == "nearest" ? "" : from_rank_map(wish).value_or(wish.text);
    const auto slash = asked.find('/');
    const std::string name = asked.substr(0, slash);
    const std::string port = slash == std::string::npos ? "" : asked.substr(slash + 1);
    NicChoice best;
    int best_score = std::numeric_limits<int>::max();
    std::set<std::string> names;
    for (std::size_t i = 0; i < offers.size(); ++i) {
        const NicFacts nic = nic_of(offers[i]);
        const std::string domain = offers[i].domain();
        names.insert(port.empty() || nic.port.empty() ? domain : fmt::format("{}/{}", domain, nic.port));
        if (!name.empty() && domain != name && nic.name != name) continue;
        if (!port.empty() && nic.port != port) continue;
        const auto distance = numa_distance(wish.here.numa_nodes, nic.numa_node);
        const int score =
            address_penalty(address_kind(offers[i].info()), wish.spans_hosts) * 1000 + distance.value_or(10);
        if (score >= best_score) continue; // libfabric's order decides between equals
        best_score = score;
        best = {i, distance, {}};
        best.warning = why_far(nic.numa_node, domain, wish.here);
    }
    if (best_score == std::numeric_limits<int>::max()) {
        const std::string why = why_down(name, port);
        throw UsageError(fmt::format("{} adapter '{}'{}: expected one of {}", why.empty() ? "unknown" : "unusable",
                                     asked, why.empty() ? "" : fmt::format(", {}", why), fmt::join(names, ", ")));
    }
    return best;
}

namespace {

std::vector<NicChoice> listed_nics(const std::vector<Offer>& offers, NicWish wish) {
    std::vector<NicChoice> chosen;
    std::istringstream names(std::exchange(wish.text, ""));
    while (std::getline(names, wish.text, ',')) {
        NicChoice choice = choose_nic(offers, wish);
        if (std::ranges::find(chosen, choice.index, &NicChoice::index) != chosen.end())
            throw UsageError(
                fmt::format("'{}' names an adapter that stands in the list by another name, too", wish.text));
        chosen.push_back(std::move(choice));
    }
    return chosen;
}

std::vector<NicChoice> all_nics(const std::vector<Offer>& offers, const NicWish& wish) {
    struct Best {
        int penalty;
        NicChoice choice;
    };
    std::map<std::string, Best> best_of; // by adapter and port
    int least = std::numeric_limits<int>::max();
    for (std::size_t i = 0; i < offers.size(); ++i) {
        const NicFacts nic = nic_of(offers[i]);
        const int penalty = address_penalty(address_kind(offers[i].info()), wish.spans_hosts);
        const std::string name = fmt::format("{}/{}", nic.name.empty() ? offers[i].domain() : nic.name, nic.port);
        const auto known = best_of.find(name);
        if (known != best_of.end() && known->second.penalty <= penalty) continue;
        best_of[name] = {penalty, {i, numa_distance(wish.here.numa_nodes, nic.numa_node), {}}};
        least = std::min(least, penalty);
    }
    std::vector<NicChoice> chosen;
    for (auto& [name, best] : best_of)
        if (best.penalty == least) chosen.push_back(std::move(best.choice));
    return chosen;
}

} // namespace

bool names_several_nics(std::string_view text) {
    return text == "all" || (text.find(',') != std::string_view::npos && text.find(':') == std::string_view::npos);
}

std::vector<NicChoice> choose_nics(const std::vector<Offer>& offers, const NicWish& wish) {
    if (!names_several_nics(wish.text)) return {choose_nic(offers, wish)};
    return wish.text == "all" ? all_nics(offers, wish) : listed_nics(offers, wish);
}

} // namespace a2aperf
