// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/measure/port_arbitration.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <doctest/doctest.h>

#include "support/machine_files.hpp"
#include "support/temporary_folder.hpp"

using namespace a2aperf;

namespace {

// A program that says what it was asked, or what is told.
class Programs {
public:
    Programs() { setenv("PATH", (folder_.path().string() + ":" + before_).c_str(), 1); }
    ~Programs() { setenv("PATH", before_.c_str(), 1); }
    Programs(const Programs&) = delete;
    Programs& operator=(const Programs&) = delete;
    void write(const char* name, const char* script) const {
        std::ofstream(folder_ / name) << "#!/bin/sh\n" << script << '\n';
        std::filesystem::permissions(folder_ / name, std::filesystem::perms::owner_all);
    }

private:
    std::string before_ = std::getenv("PATH") != nullptr ? std::getenv("PATH") : "";
    test::TemporaryFolder folder_;
};

NicFacts adapter(const char* name, bool is_rdma) {
    NicFacts nic;
    nic.name = name;
    nic.is_rdma = is_rdma;
    return nic;
}

} // namespace

TEST_CASE("of an interface tc is asked for disciplines, classes and filters") {
    const Programs programs;
    programs.write("tc", "echo said of $1 $4");
    CHECK(port_arbitration(adapter("eth7", false)) == "$ tc qdisc show dev eth7\nsaid of qdisc eth7\n"
                                                      "$ tc class show dev eth7\nsaid of class eth7\n"
                                                      "$ tc filter show dev eth7\nsaid of filter eth7\n");
    programs.write("tc", "[ $1 != filter ] && echo said of $1 $4"); // half of it would be another answer
    CHECK(port_arbitration(adapter("eth7", false)).empty());
    CHECK(port_arbitration(adapter("", false)).empty());
}

TEST_CASE("of a port of InfiniBand smpquery is asked for its tables, of no other one") {
    const Programs programs;
    programs.write("smpquery", "echo \"said: $*\"");
    const test::MachineFiles machine;
    machine.write("sys/class/infiniband/mlx4_0/ports/2/link_layer", "InfiniBand");
    machine.write("sys/class/infiniband/mlx5_0/ports/1/link_layer", "Ethernet");
    NicFacts nic = adapter("mlx4_0", true);
    nic.port = "2";
    CHECK(port_arbitration(nic, machine.root()) ==
          "$ smpquery -C mlx4_0 -P 2 -D SL2VL 0 2\nsaid: -C mlx4_0 -P 2 -D SL2VL 0 2\n"
          "$ smpquery -C mlx4_0 -P 2 -D VLArb 0 2\nsaid: -C mlx4_0 -P 2 -D VLArb 0 2\n"
          "$ smpquery -C mlx4_0 -P 2 -D PI 0 2\nsaid: -C mlx4_0 -P 2 -D PI 0 2\n");
    CHECK(port_arbitration(adapter("mlx5_0", true), machine.root()).empty());
    programs.write("smpquery", "echo no umad here >&2; exit 1");
    CHECK(port_arbitration(nic, machine.root()).empty());
}
