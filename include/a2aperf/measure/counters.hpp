// SPDX-License-Identifier: BSD-3-Clause
// What the operating system counts while ops run: per process, and per node by its first rank.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "a2aperf/fabric/nic.hpp"
#include "a2aperf/result/point_result.hpp"

namespace a2aperf {

class Job;

RankCounters read_rank_counters();
// The two parts of it: what the process has used, at the cost of one system call, and what there is of it now.
RankCounters read_usage();
void read_usage(RankCounters& counters);
void read_levels(RankCounters& counters);
// Of the CPU that it is on; for some kernels this takes 10 ms.
void read_frequency(RankCounters& counters);

// after - before; threads, affinity, memory and the CPU's frequency as after.
RankCounters difference(const RankCounters& before, const RankCounters& after);
void accumulate(RankCounters& total, const RankCounters& more);

class NodeCounterReader {
public:
    // names: the port counters of the whole launch, in the order of NodeCounters::ports.
    // adapters: those in use on this node.
    NodeCounterReader(const std::vector<NicFacts>& adapters, const std::vector<std::string>& names);

    // Interrupts of the adapters' drivers, softirqs, CPU time and the port counters; -1 where this node has none.
    NodeCounters read() const;

private:
    std::vector<std::string> devices_; // what their lines in /proc/interrupts have in them
    std::vector<std::string> paths_;   // empty = the node has no such counter
};

// The sum over all CPUs of the lines of /proc/interrupts that name one of the devices; -1 where none does.
std::int64_t count_interrupts(std::istream& table, const std::vector<std::string>& devices);

// The sum over all CPUs of one line of /proc/softirqs, as NET_RX; -1 where it has none of that name.
std::int64_t count_softirqs(std::istream& table, std::string_view name);

// The CPU times of the line "cpu" of /proc/stat, which has all CPUs, from ticks of that many in a second. Old
// kernels have fewer of them: what is not there stays unknown, and so does all of a line that is none of numbers.
void read_cpu_times(std::istream& table, std::int64_t ticks_per_second, NodeCounters& counters);

// Adds after - before to the total, which is nothing before the first. -1 is for good: what the node has not, could
// not be read, or was reset in between.
void accumulate(std::optional<NodeCounters>& total, const NodeCounters& before, const NodeCounters& after);

// What was read at one moment; of the node by its first rank alone.
struct Reading {
    RankCounters rank{};
    std::optional<NodeCounters> node{};
};

// Of all ranks and nodes, on rank 0. of_node: what the first rank of a node has read. Collective.
PhaseCounts gather_counters(const Job& job, const RankCounters& of_rank,
                            const std::optional<NodeCounters>& of_node);

// What is counted while something goes on that is not timed, from its making to end(). Both are collective, and no
// rank goes on while another one still reads: /proc/interrupts takes a millisecond, which is nobody's CPU time.
class CountedPhase {
public:
    CountedPhase(const Job& job, const NodeCounterReader& nodes);
    void end();
    PhaseCounts gather() const { return gather_counters(job_, of_rank_, of_node_); } // after end(); collective

private:
    const Job& job_;
    const NodeCounterReader& nodes_;
    bool reads_node_;
    NodeCounters node_before_;
    RankCounters of_rank_{};
    std::optional<NodeCounters> of_node_;
};

} // namespace a2aperf
