// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/measure/host_state.hpp"

#include <algorithm>

#include <doctest/doctest.h>

#include "support/machine_files.hpp"

using namespace a2aperf;

TEST_CASE("frequency, governor and irqbalance are told as the machine has them, else they are unknown") {
    const test::MachineFiles machine;
    const auto value_of = [&](std::string_view name) {
        const auto details = host_state(machine.root());
        const auto found = std::ranges::find(details, name, &Detail::name);
        REQUIRE(found != details.end());
        return found->value;
    };
    CHECK(value_of("CPU frequency").empty());
    CHECK(value_of("governor").empty());
    CHECK(value_of("irqbalance") == "is not seen among the processes");
    CHECK_FALSE(value_of("memlock").empty());
    machine.write("proc/cpuinfo", "cpu MHz\t\t: 2000.4\ncpu MHz\t\t: 2100.2");
    CHECK(value_of("CPU frequency") == "2000 to 2100 MHz, 2 CPUs");
    machine.write("sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "3200000");
    machine.write("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance");
    machine.write("proc/77/comm", "irqbalance");
    CHECK(value_of("CPU frequency") == "3200 to 3200 MHz, 1 CPU");
    CHECK(value_of("governor") == "performance");
    CHECK(value_of("irqbalance") == "runs");
}
