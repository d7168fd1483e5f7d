// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/fabric/nic_details.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace a2aperf;
namespace fs = std::filesystem;

namespace {

// A machine's files under a folder of their own.
struct Root {
    fs::path path = fs::temp_directory_path() / fmt::format("nic-details-{}", getpid());
    Root() { fs::remove_all(path); }
    ~Root() { fs::remove_all(path); }
    Root(const Root&) = delete;
    Root& operator=(const Root&) = delete;

    void write(const std::string& name, const std::string& text) const {
        fs::create_directories((path / name).parent_path());
        std::ofstream(path / name) << text << '\n';
    }
};

std::string value_of(const std::vector<Detail>& details, std::string_view name) {
    const auto found = std::ranges::find(details, name, &Detail::name);
    return found != details.end() ? found->value : "there is none";
}

} // namespace

TEST_CASE("a port of an adapter, and where its interrupts go") {
    const Root root;
    root.write("sys/class/infiniband/hfi1_0/board_id", "board");
    root.write("sys/class/infiniband/hfi1_0/ports/1/state", "4: ACTIVE");
    root.write("sys/class/infiniband/hfi1_0/ports/1/sm_lid", "0x1");
    for (const char* irq : {"40", "41", "42"})
        root.write(fmt::format("sys/class/infiniband/hfi1_0/device/msi_irqs/{}", irq), "msix");
    root.write("proc/irq/40/smp_affinity_list", "0-3");
    root.write("proc/irq/41/effective_affinity_list", "2");
    root.write("proc/irq/41/smp_affinity_list", "0-3");
    root.write("proc/irq/42/smp_affinity_list", "0-3");
    NicFacts nic;
    nic.name = "hfi1_0";
    nic.is_rdma = true;
    nic.max_read_request = "512";
    const auto details = nic_details(nic, root.path);
    CHECK(value_of(details, "port 1 state") == "4: ACTIVE");
    CHECK(value_of(details, "port 1 LID of the subnet manager") == "0x1");
    CHECK(value_of(details, "port 1 rate").empty());
    CHECK(value_of(details, "board") == "board");
    CHECK(value_of(details, "MaxReadReq") == "512 B");
    CHECK(value_of(details, "interrupts") == "CPUs 0-3: 40 42, CPUs 2: 41");
}

TEST_CASE("what an interface does not have is unknown, and no number") {
    const Root root;
    root.write("sys/class/net/lo/operstate", "unknown");
    NicFacts nic;
    nic.name = "lo";
    const auto details = nic_details(nic, root.path);
    for (const char* name : {"driver", "NUMA node", "MaxReadReq", "link rate", "interrupts", "MTU", "rings"}) {
        CAPTURE(name);
        CHECK(value_of(details, name).empty());
    }
    CHECK(value_of(details, "state") == "unknown");
}
