// SPDX-License-Identifier: BSD-3-Clause
#include "measure/host_facts.hpp"

#include <algorithm>
#include <cstring>
#include <tuple>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "support/machine_files.hpp"
#ifdef FAKE_VERBS
#include "unit/fabric/fake_verbs.hpp"
#endif

using namespace a2aperf;

namespace {

using Facts = std::vector<std::pair<std::string, std::string>>;

std::string value_of(const Facts& facts, std::string_view name) {
    const auto found = std::ranges::find(facts, name, &Facts::value_type::first);
    REQUIRE(found != facts.end());
    return found->second;
}

} // namespace

TEST_CASE("facts come in one order, unknown ones empty") {
    const Facts facts = node_facts(NicFacts{}, 7);
    const auto value = [&](std::string_view name) { return value_of(facts, name); };
    CHECK_FALSE(value("kernel").empty());
    CHECK(value("cores_usable") == "7");
    CHECK(value("nic").empty());
    CHECK(value("nic_link_rate").empty());
    CHECK(value("nic_numa_node").empty());
    CHECK(value("nic_state").empty());
    CHECK(value("nic_interrupts").empty());
    CHECK(value("nic_max_qp").empty());
}

TEST_CASE("how the node and the adapter are set is a fact of the launch") {
    const test::MachineFiles machine;
    machine.write("sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "3200000");
    machine.write("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance");
    machine.write("proc/77/comm", "irqbalance");
    const std::string adapter = "sys/class/infiniband/hfi1_0/";
    for (const auto& [port, state, physical] :
         {std::tuple{"1", "4: ACTIVE", "5: LinkUp"}, std::tuple{"2", "1: DOWN", "3: Disabled"}}) {
        machine.write(fmt::format("{}ports/{}/state", adapter, port), state);
        machine.write(fmt::format("{}ports/{}/phys_state", adapter, port), physical);
    }
    machine.write(adapter + "ports/1/sm_lid", "0x1");
    machine.write(adapter + "device/msi_irqs/24", "msix");
    machine.write("proc/irq/24/smp_affinity_list", "0-3");

    NicFacts nic;
    nic.name = "hfi1_0";
    nic.is_rdma = true;
    nic.max_read_request = "512";
    nic.pcie_width = "16";
    nic.link_rate_gbps = 100;
    machine.write(adapter + "ports/1/link_layer", "InfiniBand");
    machine.write(adapter + "ports/1/lid", "0x2");
    const Facts facts = node_facts(nic, 2, machine.root(), "libnot-there.so");
    CHECK(value_of(facts, "cpu_frequency") == "3200 to 3200 MHz, 1 CPU");
    CHECK(value_of(facts, "governor") == "performance");
    CHECK(value_of(facts, "irqbalance") == "runs");
    CHECK_FALSE(value_of(facts, "memlock").empty());
    CHECK(value_of(facts, "nic_state") == "port 1 4: ACTIVE, port 2 1: DOWN");
    CHECK(value_of(facts, "nic_physical_state") == "port 1 5: LinkUp, port 2 3: Disabled");
    CHECK(value_of(facts, "nic_subnet_manager") == "port 1 0x1");
    CHECK(value_of(facts, "nic_interrupts") == "CPUs 0-3: 24");
    CHECK(value_of(facts, "nic_max_read_request") == "512");
    CHECK(value_of(facts, "nic_pcie_width") == "16");
    CHECK(value_of(facts, "nic_link_rate") == "100");
    CHECK(value_of(facts, "nic_rings").empty());
    CHECK(value_of(facts, "nic_link_layer") == "port 1 InfiniBand");
    CHECK(value_of(facts, "nic_lid") == "port 1 0x2");
    CHECK(value_of(facts, "nic_active_mtu").empty());
}

#ifdef FAKE_VERBS
TEST_CASE("limits of an RDMA device are facts of the launch") {
    test::FakeVerbs& fake = test::fake_verbs(FAKE_VERBS);
    fake = {};
    std::strcpy(fake.device.fw_ver, "1.2.3");
    fake.device.max_qp = 1000;
    fake.device.phys_port_cnt = 2;
    ibv_port_attr port{};
    port.max_mtu = IBV_MTU_4096;
    port.active_mtu = IBV_MTU_1024;
    fake.ports = {{1, port}, {2, port}};
    const test::MachineFiles machine;
    machine.write("sys/class/infiniband/fake0/ports/1/link_layer", "Ethernet");
    machine.write("sys/class/infiniband/fake0/ports/1/lid", "0x0");
    NicFacts nic;
    nic.name = "fake0";
    nic.is_rdma = true;
    const Facts facts = node_facts(nic, 2, machine.root(), FAKE_VERBS);
    CHECK(value_of(facts, "nic_firmware") == "1.2.3"); // the kernel's files do not tell it
    CHECK(value_of(facts, "nic_max_qp") == "1000");
    CHECK(value_of(facts, "nic_max_inline_data") == "220");
    CHECK(value_of(facts, "nic_active_mtu") == "port 1 1024, port 2 1024");
    for (const auto& fact : facts) {
        CAPTURE(fact.first);
        if (is_fact_of_rdma(fact.first)) CHECK_FALSE(fact.second.empty());
    }
    CHECK(std::ranges::count_if(facts, [](const auto& fact) { return is_fact_of_rdma(fact.first); }) == 22);
    for (const char* name : {"nic", "nic_state", "nic_mtu", "kernel"}) CHECK_FALSE(is_fact_of_rdma(name));
}
#endif
