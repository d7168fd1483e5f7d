// SPDX-License-Identifier: BSD-3-Clause
#include "host_facts.hpp"

#include <sys/utsname.h>

#include <algorithm>
#include <array>
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

// By the names of the details, docs/file-format.md says what they are.
struct RdmaFact {
    std::string_view fact, detail;
    bool is_of_port = false;
};

constexpr std::array kRdmaFacts{RdmaFact{"nic_vendor_id", "vendor_id"},
                                RdmaFact{"nic_vendor_part_id", "vendor_part_id"},
                                RdmaFact{"nic_hw_ver", "hw_ver"},
                                RdmaFact{"nic_node_guid", "node_guid"},
                                RdmaFact{"nic_max_mr_size", "max_mr_size"},
                                RdmaFact{"nic_page_size_cap", "page_size_cap"},
                                RdmaFact{"nic_max_qp", "max_qp"},
                                RdmaFact{"nic_max_qp_wr", "max_qp_wr"},
                                RdmaFact{"nic_max_sge", "max_sge"},
                                RdmaFact{"nic_max_cq", "max_cq"},
                                RdmaFact{"nic_max_cqe", "max_cqe"},
                                RdmaFact{"nic_atomic_cap", "atomic_cap"},
                                RdmaFact{"nic_max_inline_data", "max_inline_data"},
                                RdmaFact{"nic_max_mtu", "max_mtu", true},
                                RdmaFact{"nic_active_mtu", "active_mtu", true},
                                RdmaFact{"nic_max_msg_sz", "max_msg_sz", true},
                                RdmaFact{"nic_gid_tbl_len", "gid_tbl_len", true},
                                RdmaFact{"nic_port_cap_flags", "port_cap_flags", true},
                                RdmaFact{"nic_active_width", "active_width", true},
                                RdmaFact{"nic_active_speed", "active_speed", true},
                                RdmaFact{"nic_link_layer", "link layer", true},
                                RdmaFact{"nic_lid", "LID", true}};

} // namespace

bool is_fact_of_rdma(std::string_view name) {
    return std::ranges::find(kRdmaFacts, name, &RdmaFact::fact) != kRdmaFacts.end();
}

std::vector<std::pair<std::string, std::string>> node_facts(const NicFacts& nic, int cores_usable,
                                                            const std::string& root, const std::string& verbs) {
    utsname kernel{};
    uname(&kernel);
    const std::vector<Detail> host = host_state(root), adapter = nic_details(nic, root, verbs);
    std::vector<std::pair<std::string, std::string>> facts{
        {"kernel", kernel.release},
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
        {"nic_firmware", nic.firmware.empty() ? value_of(adapter, "fw_ver") : nic.firmware},
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
    for (const RdmaFact& one : kRdmaFacts)
        facts.emplace_back(one.fact,
                           one.is_of_port ? of_ports(adapter, one.detail) : value_of(adapter, one.detail));
    return facts;
}

} // namespace a2aperf
