// SPDX-License-Identifier: BSD-3-Clause
#include "measure/cpu_frequency.hpp"

#include <doctest/doctest.h>

#include "support/machine_files.hpp"

using namespace a2aperf;

TEST_CASE("the frequency of one CPU is cpufreq's word") {
    const test::MachineFiles machine;
    machine.write("sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "3200000");
    machine.write("sys/devices/system/cpu/cpu12/cpufreq/scaling_cur_freq", "800000");
    machine.write("proc/cpuinfo", "processor\t: 12\ncpu MHz\t\t: 2100.000\n");
    CHECK(cpu_frequency_khz(0, machine.root()) == 3'200'000);
    CHECK(cpu_frequency_khz(12, machine.root()) == 800'000);
}

TEST_CASE("without cpufreq it is what /proc/cpuinfo says of that CPU") {
    const test::MachineFiles machine;
    machine.write("proc/cpuinfo", "processor\t: 0\ncpu MHz\t\t: 2100.000\n\n"
                                  "processor\t: 1\ncpu MHz\t\t: 1999.9996\n\nprocessor\t: 2\n");
    CHECK(cpu_frequency_khz(0, machine.root()) == 2'100'000);
    CHECK(cpu_frequency_khz(1, machine.root()) == 2'000'000);
    CHECK(cpu_frequency_khz(2, machine.root()) == -1);
    CHECK(cpu_frequency_khz(3, machine.root()) == -1);
}

TEST_CASE("a frequency that is no number, or none, is unknown") {
    const test::MachineFiles machine;
    CHECK(cpu_frequency_khz(0, machine.root()) == -1);
    CHECK(cpu_frequency_khz(-1, machine.root()) == -1);
    machine.write("sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "<unknown>");
    CHECK(cpu_frequency_khz(0, machine.root()) == -1);
    machine.write("sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "0");
    CHECK(cpu_frequency_khz(0, machine.root()) == -1);
}
