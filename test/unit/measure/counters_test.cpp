// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/measure/counters.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

using namespace a2aperf;

TEST_CASE("giving up the core and using it show as differences") {
    const RankCounters before = read_rank_counters();
    // Some may be over before the thread has gone to sleep, on a busy machine.
    for (int i = 0; i < 40; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const RankCounters change = difference(before, read_rank_counters());
    CHECK(change.voluntary_switches >= 20);
    CHECK(change.involuntary_switches >= 0);
    CHECK(change.threads == 1);
    CHECK(change.wall_time_ns >= 40 * 1'000'000);
}

TEST_CASE("what a process has used is read without what there is of it, and beside it") {
    RankCounters counters = read_usage();
    CHECK(counters.threads == 0);
    CHECK(counters.resident_memory == -1);
    CHECK(counters.cpu_frequency_khz == -1);
    read_levels(counters);
    CHECK(counters.cpu_frequency_khz == -1);
    read_frequency(counters);
    const RankCounters first = counters;
    read_usage(counters);
    CHECK(counters.threads == 1);
    CHECK(counters.resident_memory == first.resident_memory);
    CHECK(counters.cpu_frequency_khz != 0);
    CHECK(counters.wall_time_ns > first.wall_time_ns);
}

TEST_CASE("every thread's CPUs are told") {
    std::atomic<bool> is_over{false};
    std::thread other([&] {
        while (!is_over) std::this_thread::yield();
    });
    const RankCounters counters = read_rank_counters();
    is_over = true;
    other.join();
    CHECK(counters.threads == 2);
    const std::string affinity = counters.thread_affinity;
    CHECK(std::count(affinity.begin(), affinity.end(), ';') == 1);
    CHECK(affinity.find('?') == std::string::npos);
}

TEST_CASE("memory that is there, and what of it is locked") {
    constexpr std::int64_t kSize = 1 << 26;
    const RankCounters before = read_rank_counters();
    REQUIRE(before.resident_memory > 0);
    const std::vector<char> touched(kSize, 1);
    const RankCounters after = read_rank_counters();
    CHECK(after.resident_memory - before.resident_memory > kSize / 2); // the rest may have been there
    CHECK(after.locked_memory == before.locked_memory);
    constexpr std::size_t kLocked = 1 << 14; // less than any usual limit
    // Sanitizers do nothing where mlock() is called.
    if (syscall(SYS_mlock, touched.data(), kLocked) != 0) return;
    CHECK(read_rank_counters().locked_memory - before.locked_memory >= std::int64_t{kLocked});
    CHECK(difference(before, after).resident_memory == after.resident_memory);
}

TEST_CASE("blocks add up, threads are those of the last") {
    RankCounters total{};
    RankCounters block{};
    block.voluntary_switches = 3;
    block.user_time_ns = 100;
    block.threads = 4;
    accumulate(total, block);
    block.threads = 5;
    accumulate(total, block);
    CHECK(total.voluntary_switches == 6);
    CHECK(total.user_time_ns == 200);
    CHECK(total.threads == 5);
}

TEST_CASE("what a node lacks stays -1, the rest adds up") {
    std::optional<NodeCounters> total;
    const NodeCounters before{.interrupts = -1, .net_rx = 7, .net_tx = -1, .ports = {100, -1}};
    const NodeCounters after{.interrupts = -1, .net_rx = 10, .net_tx = -1, .ports = {150, -1}};
    accumulate(total, before, after);
    accumulate(total, before, after);
    REQUIRE(total);
    CHECK(total->interrupts == -1);
    CHECK(total->net_rx == 6);
    CHECK(total->net_tx == -1);
    CHECK(total->ports == std::vector<std::int64_t>{100, -1});
}

TEST_CASE("a counter that is reset during a point is unknown there, whatever follows") {
    std::optional<NodeCounters> total;
    accumulate(total, {.interrupts = 5, .ports = {100, 7}}, {.interrupts = 6, .ports = {3, 7}});
    CHECK(total->ports == std::vector<std::int64_t>{-1, 0});
    accumulate(total, {.interrupts = 6, .ports = {3, 7}}, {.interrupts = 2, .ports = {900, 9}});
    CHECK(total->interrupts == -1);
    CHECK(total->ports == std::vector<std::int64_t>{-1, 2});
}

TEST_CASE("interrupts are those of lines that name the device, and not one of which its name is a part") {
    const std::string table = "            CPU0       CPU1\n"
                              "   0:        100          7  IO-APIC    2-edge      timer\n"
                              "  35:          1          2  PCI-MSI 524288-edge      eth1-TxRx-0\n"
                              "  36:         10         20  PCI-MSI 524289-edge      eth10-TxRx-0\n"
                              "  37:        100        200  PCI-MSI 524290-edge      veth1\n"
                              "  38:       1000       2000  PCI-MSI 524291-edge      uhci_hcd:usb1, eth1\n"
                              "  39:      10000      20000  PCI-MSI 524292-edge      hfi1_0 sdma3\n"
                              "  40:     100000     200000  PCI-MSI 524293-edge      hfi1_1 sdma3\n"
                              " ERR:          5\n";
    const auto count = [&](const std::vector<std::string>& devices) {
        std::istringstream stream(table);
        return count_interrupts(stream, devices);
    };
    CHECK(count({"eth1"}) == 3003);
    CHECK(count({"eth10"}) == 30);
    CHECK(count({"eth"}) == -1);
    CHECK(count({"hfi1_0"}) == 30'000);
    CHECK(count({"hfi1_1", "hfi1"}) == 330'000);
    CHECK(count({}) == -1);
}

TEST_CASE("softirqs are the sum over all CPUs of the line of that very name") {
    const std::string table = "                    CPU0       CPU1       CPU2\n"
                              "          HI:          1          1          1\n"
                              "      NET_TX:          3          1          0\n"
                              "      NET_RX:     268455     271251 4294967295\n"
                              "    IRQ_POLL:          9          9          9\n";
    const auto count = [&](std::string_view name) {
        std::istringstream stream(table);
        return count_softirqs(stream, name);
    };
    CHECK(count("NET_TX") == 4);
    CHECK(count("NET_RX") == 268'455 + 271'251 + 4'294'967'295);
    CHECK(count("RX") == -1);
    CHECK(count("NET_R") == -1);
    CHECK(count("CPU0") == -1);
}

TEST_CASE("this node's softirqs are counted, and none falls") {
    const NodeCounterReader reader({}, {});
    const NodeCounters before = reader.read();
    const NodeCounters after = reader.read();
    CHECK(before.net_rx >= 0);
    CHECK(before.net_tx >= 0);
    CHECK(after.net_rx >= before.net_rx);
    CHECK(after.net_tx >= before.net_tx);
}

TEST_CASE("CPU times of a node are those of the line that has all CPUs") {
    const auto read = [](const std::string& table, std::int64_t ticks_per_second = 100) {
        std::istringstream stream(table);
        NodeCounters counters;
        read_cpu_times(stream, ticks_per_second, counters);
        return counters;
    };
    constexpr std::int64_t kTick = 10'000'000;
    const NodeCounters whole = read("cpu0 9 9 9 9 9 9 9 9 9 9\n"
                                    "cpu  100 20 30 4000 500 6 7 8 90 10\n"
                                    "intr 3\n");
    CHECK(whole.user_time_ns == 120 * kTick); // and 90 of a guest in it
    CHECK(whole.system_time_ns == 30 * kTick);
    CHECK(whole.idle_time_ns == 4500 * kTick);
    CHECK(whole.irq_time_ns == 6 * kTick);
    CHECK(whole.softirq_time_ns == 7 * kTick);
    CHECK(whole.steal_time_ns == 8 * kTick);
    CHECK(read("cpu  1 2 3 4 5 6 7 8\n", 250).user_time_ns == 3 * 4'000'000);

    const NodeCounters old = read("cpu  100 20 30 4000\n"); // Linux 2.4
    CHECK(old.user_time_ns == 120 * kTick);
    CHECK(old.idle_time_ns == 4000 * kTick);
    CHECK(old.irq_time_ns == -1);
    CHECK(old.softirq_time_ns == -1);
    CHECK(old.steal_time_ns == -1);

    for (const char* broken : {"", "cpu\n", "cpu  1 2 3\n", "cpu0 1 2 3 4 5 6 7 8\n", "cpu  1 2 three 4 5 6 7 8\n",
                               "cpu  1 2 3 4 5 6x 7 8\n", "cpu  1 -2 3 4 5 6 7 8\n", "cpux 1 2 3 4 5 6 7 8\n",
                               "cpu  99999999999999999999 2 3 4 5 6 7 8\n"}) {
        CAPTURE(broken);
        CHECK(read(broken).user_time_ns == -1);
        CHECK(read(broken).idle_time_ns == -1);
    }
    CHECK(read("cpu  1 2 3 4\n", 0).user_time_ns == -1);
}

TEST_CASE("CPU times that fit into no number of ns begin at 0 again") {
    std::istringstream stream("cpu  9223372036854775807 9223372036854775807 922337203685 922337203684 0 0 0 0\n");
    NodeCounters counters;
    read_cpu_times(stream, 100, counters);
    CHECK(counters.user_time_ns >= 0);
    CHECK(counters.system_time_ns == 0);
    CHECK(counters.idle_time_ns == 9'223'372'036'840'000'000);
}

TEST_CASE("CPU times of this node are counted") {
    const NodeCounterReader reader({}, {});
    const NodeCounters before = reader.read();
    const NodeCounters after = reader.read();
    std::optional<NodeCounters> change;
    accumulate(change, before, after);
    CHECK(before.user_time_ns > 0);
    CHECK(change->user_time_ns >= 0);
    CHECK(change->system_time_ns >= 0);
    CHECK(change->wall_time_ns > 0);
}

TEST_CASE("the loopback interface's bytes are read by name, unknown names are -1") {
    NicFacts lo;
    lo.name = "lo";
    const NodeCounterReader reader({lo}, {"lo/statistics/tx_bytes", "hfi1_0/1/counters/port_xmit_wait"});
    const NodeCounters counters = reader.read();
    CHECK(counters.ports[0] >= 0);
    CHECK(counters.ports[1] == -1);
}
