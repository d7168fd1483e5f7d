// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/measure/host_facts.hpp"

#include <sys/utsname.h>

#include <fstream>

#include <fmt/format.h>

#include "a2aperf/base/error.hpp"
#include "a2aperf/fabric/memory.hpp"

namespace a2aperf {
namespace {

std::string first_line(const char* path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

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

} // namespace

std::vector<std::pair<std::string, std::string>> node_facts(const NicFacts& nic, int cores_usable) {
    utsname kernel{};
    uname(&kernel);
    return {{"kernel", kernel.release},
            {"cpu_model", cpu_model()},
            {"governor", first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")},
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
            {"nic_link_rate", text_or_unknown(nic.link_rate_gbps)}};
}

} // namespace a2aperf
