// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/measure/host_facts.hpp"

#include <sys/utsname.h>

#include <algorithm>
#include <fstream>

#include <fmt/format.h>

#include "a2aperf/base/error.hpp"
#include "a2aperf/base/text_file.hpp"
#include "a2aperf/fabric/memory.hpp"
#include "a2aperf/fabric/nic_details.hpp"
#include "a2aperf/measure/host_state.hpp"

namespace a2aperf {
namespace {

std::string cpu_model() {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);)
        if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
    return {};
}

std::string memory_total() {
    try {
        return std::to_string(memory_kinds().front().of_node().total);
    } catch (const RunError&) {
        return {};
    }
}

std::string text_or_unknown(double number) {
    return number < 0 ? "" : fmt::format("{:g}", number);
}

std::string value_of(const std::vector<Detail>& details, std::string_view name) {
    const auto found = std::ranges::find(details, name, &Detail::name);
    return found != details.end() ? found->value : "";
}

// "port 1 4: ACTIVE, port 2 1: DOWN", as each port of the adapter says.
std::string of_ports(const std::vector<Detail>& details, std::string_view what) {
    constexpr std::string_view kPort = "port ";
    std::string text;
    for (const Detail& detail : details) {
        const std::string port = detail.name.substr(0, detail.name.find(' ', kPort.size()));
        if (port.starts_with(kPort) && detail.name == fmt::format("{} {}", port, what) && !detail.value.empty())
            text += fmt::format("{}{} {}", text.empty() ? "" : ", ", port, detail.value);
    }
    return text;
}

} // namespace

std::vector<std::pair<std::string, std::string>> node_facts(const NicFacts& nic, int cores_usable,
                                                            const std::string& root) {
    utsname kernel{};
    uname(&kernel);
    const std::vector<Detail> host = host_state(root), adapter = nic_details(nic, root);
    return {{"kernel", kernel.release},
            {"cpu_model", cpu_model()},
            {"cpu_frequency", value_of(host, "CPU frequency")},
            {"governor", value_of(host, "governor")},
            {"memlock", value_of(host, "memlock")},
            {"irqbalance", value_of(host, "irqbalance")},
            {"cores_usable", std::to_string(cores_usable)},
            {"memory_total", memory_total()},
            {"boot_id", first_line("/proc/sys/kernel/random/boot_id")},
            {"nic", nic.name},
            {"nic_driver", nic.driver},
            {"nic_firmware", nic.firmware},
            {"nic_numa_node", nic.numa_node < 0 ? "" : std::to_string(nic.numa_node)},
            {"nic_pcie_width", nic.pcie_width},
            {"nic_pcie_speed", nic.pcie_speed},
            {"nic_max_read_request", nic.max_read_request},
            {"nic_mtu", nic.mtu},
            {"nic_link_rate", text_or_unknown(nic.link_rate_gbps)},
            {"nic_state", nic.is_rdma ? of_ports(adapter, "state") : value_of(adapter, "state")},
            {"nic_physical_state", of_ports(adapter, "physical state")},
            {"nic_subnet_manager", of_ports(adapter, "LID of the subnet manager")},
            {"nic_interrupts", value_of(adapter, "interrupts")},
            {"nic_rings", value_of(adapter, "rings")}};
}

} // namespace a2aperf
