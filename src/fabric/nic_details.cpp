// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/fabric/nic_details.hpp"

#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "a2aperf/base/text_file.hpp"

namespace a2aperf {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> entries_of(const fs::path& folder) {
    std::vector<std::string> names;
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(folder, ignored))
        names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
}

// "received 512 of 4096, sent 512 of 4096"; the driver is asked, no other rank is.
std::string ring_sizes(const std::string& interface) {
    const int any = socket(AF_INET, SOCK_DGRAM, 0);
    if (any < 0) return {};
    ethtool_ringparam rings{};
    rings.cmd = ETHTOOL_GRINGPARAM;
    ifreq request{};
    interface.copy(request.ifr_name, IFNAMSIZ - 1);
    request.ifr_data = reinterpret_cast<char*>(&rings);
    const bool is_told = ioctl(any, SIOCETHTOOL, &request) == 0;
    close(any);
    if (!is_told || rings.rx_max_pending + rings.tx_max_pending == 0) return {};
    return fmt::format("receive {} of {}, send {} of {}", rings.rx_pending, rings.rx_max_pending, rings.tx_pending,
                       rings.tx_max_pending);
}

// "CPUs 0-3: 24 25, CPUs 4: 26", by where the kernel delivers them.
std::string interrupt_affinity(const fs::path& device, const std::string& root) {
    std::map<std::string, std::vector<std::string>> of_cpus;
    for (const std::string& irq : entries_of(device / "msi_irqs")) {
        const fs::path folder = fs::path(root + "/proc/irq") / irq;
        std::string cpus = first_line(folder / "effective_affinity_list");
        if (cpus.empty()) cpus = first_line(folder / "smp_affinity_list");
        of_cpus[cpus.empty() ? "?" : cpus].push_back(irq);
    }
    std::string text;
    for (const auto& [cpus, irqs] : of_cpus)
        text += fmt::format("{}CPUs {}: {}", text.empty() ? "" : ", ", cpus, fmt::join(irqs, " "));
    return text;
}

void add_port(const fs::path& port, std::vector<Detail>& details) {
    const std::string name = "port " + port.filename().string();
    for (const auto& [fact, file] : {std::pair{"state", "state"},
                                     {"physical state", "phys_state"},
                                     {"rate", "rate"},
                                     {"link layer", "link_layer"},
                                     {"LID", "lid"},
                                     {"LID of the subnet manager", "sm_lid"}})
        details.push_back({fmt::format("{} {}", name, fact), first_line(port / file)});
}

} // namespace

std::vector<Detail> nic_details(const NicFacts& nic, const std::string& root, const std::string& verbs) {
    const fs::path folder = fs::path(root + (nic.is_rdma ? "/sys/class/infiniband" : "/sys/class/net")) / nic.name;
    std::error_code ignored;
    const bool has_device = fs::exists(folder / "device", ignored);
    const std::string why = has_device ? "" : "no device of its own";
    const auto with_unit = [](const std::string& value, const char* unit) {
        return value.empty() ? value : fmt::format("{} {}", value, unit);
    };
    std::vector<Detail> details{
        {"driver", nic.driver, why},
        {"firmware", nic.firmware, why},
        {"NUMA node", nic.numa_node >= 0 ? std::to_string(nic.numa_node) : "", why},
        {"PCIe width", nic.pcie_width, why},
        {"PCIe speed", nic.pcie_speed, why},
        {"MaxReadReq", with_unit(nic.max_read_request, "B"),
         has_device ? "root may read it, of a PCIe device" : why},
        {"link rate", nic.link_rate_gbps > 0 ? fmt::format("{:g} Gbit/s", nic.link_rate_gbps) : ""},
        {"interrupts", interrupt_affinity(folder / "device", root), why}};
    if (nic.is_rdma) {
        details.push_back({"board", first_line(folder / "board_id")});
        for (const std::string& port : entries_of(folder / "ports")) add_port(folder / "ports" / port, details);
        std::ranges::move(verbs_details(nic.name, verbs), std::back_inserter(details));
        return details;
    }
    details.push_back({"MTU", with_unit(nic.mtu, "B")});
    details.push_back({"state", first_line(folder / "operstate")});
    details.push_back({"duplex", first_line(folder / "duplex")});
    details.push_back({"rings", root.empty() ? ring_sizes(nic.name) : "", "the driver does not tell them"});
    return details;
}

} // namespace a2aperf
