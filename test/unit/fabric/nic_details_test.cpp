// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/fabric/nic_details.hpp"

#include <algorithm>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "support/machine_files.hpp"

using namespace a2aperf;

namespace {

std::string value_of(const std::vector<Detail>& details, std::string_view name) {
    const auto found = std::ranges::find(details, name, &Detail::name);
    return found != details.end() ? found->value : "there is none";
}

} // namespace

TEST_CASE("a port of an adapter, and where its interrupts go") {
    const test::MachineFiles machine;
    machine.write("sys/class/infiniband/hfi1_0/board_id", "board");
    machine.write("sys/class/infiniband/hfi1_0/ports/1/state", "4: ACTIVE");
    machine.write("sys/class/infiniband/hfi1_0/ports/1/sm_lid", "0x1");
    for (const char* irq : {"40", "41", "42"})
        machine.write(fmt::format("sys/class/infiniband/hfi1_0/device/msi_irqs/{}", irq), "msix");
    machine.write("proc/irq/40/smp_affinity_list", "0-3");
    machine.write("proc/irq/41/effective_affinity_list", "2");
    machine.write("proc/irq/41/smp_affinity_list", "0-3");
    machine.write("proc/irq/42/smp_affinity_list", "0-3");
    NicFacts nic;
    nic.name = "hfi1_0";
    nic.is_rdma = true;
    nic.max_read_request = "512";
    const auto details = nic_details(nic, machine.root(), "libnot-there.so");
    CHECK(value_of(details, "port 1 state") == "4: ACTIVE");
    CHECK(value_of(details, "attributes of verbs").empty());
    CHECK(value_of(details, "port 1 LID of the subnet manager") == "0x1");
    CHECK(value_of(details, "port 1 rate").empty());
    CHECK(value_of(details, "board") == "board");
    CHECK(value_of(details, "MaxReadReq") == "512 B");
    CHECK(value_of(details, "interrupts") == "CPUs 0-3: 40 42, CPUs 2: 41");
}

TEST_CASE("what an interface does not have is unknown, and no number") {
    const test::MachineFiles machine;
    machine.write("sys/class/net/lo/operstate", "unknown");
    NicFacts nic;
    nic.name = "lo";
    const auto details = nic_details(nic, machine.root());
    for (const char* name : {"driver", "NUMA node", "MaxReadReq", "link rate", "interrupts", "MTU", "rings"}) {
        CAPTURE(name);
        CHECK(value_of(details, name).empty());
    }
    CHECK(value_of(details, "state") == "unknown");
}
