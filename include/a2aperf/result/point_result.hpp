// SPDX-License-Identifier: BSD-3-Clause
// Everything that measuring one point yields on rank 0.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "a2aperf/stats/samples.hpp"
#include "a2aperf/stats/summary.hpp"

namespace a2aperf {

enum class StopRule {
    none = 0,
    ops = 1,
    precision = 2,
    max_ops = 3,
    time_budget = 4,
    interrupted = 5, // of no point: one that is interrupted is not kept
    attempts = 6,
    duration = 7,
    messages = 8
};

// What the operating system saw of one rank during a phase: differences, then what is there at its end. Or what
// it had counted at one moment, and what was there then.
// Trivially copyable, so that it can be gathered.
struct RankCounters {
    std::int64_t voluntary_switches, involuntary_switches, minor_faults, major_faults;
    std::int64_t user_time_ns, system_time_ns;
    std::int64_t wall_time_ns;                   // in which the others were counted; -1 = unknown
    std::int64_t resident_memory, locked_memory; // B, -1 = unknown; locked: pinned by the kernel for a device, too
    std::int64_t cpu_frequency_khz;              // of the CPU that it was on; -1 = unknown
    std::int32_t threads;
    char thread_affinity[96]; // "0-1;0-1;0", NUL-padded, ends in "…" when cut
};

// What it saw of one node. -1 = not there.
struct NodeCounters {
    std::int64_t interrupts = -1;
    std::int64_t net_rx = -1, net_tx = -1; // softirqs of all its interfaces
    // CPU time of all its CPUs together, whoever used it: a process, niced or not; the kernel; what it spent on
    // interrupts, where it accounts for them apart; what a hypervisor gave to others; nobody.
    std::int64_t user_time_ns = -1, system_time_ns = -1, irq_time_ns = -1, softirq_time_ns = -1, steal_time_ns = -1,
                 idle_time_ns = -1;
    std::int64_t wall_time_ns = -1;  // in which it was counted
    std::vector<std::int64_t> ports; // parallel to Provenance::port_names
};

// Of all ranks and nodes while one phase went on: a launch's start, a point's verification. Or as they were at one
// moment. Empty: not counted.
struct PhaseCounts {
    std::vector<RankCounters> ranks; // [R], of a phase the differences alone
    std::vector<NodeCounters> nodes; // [N]
};

struct PointResult {
    Samples samples;
    Summary summary;
    std::map<std::string_view, double> figures; // of the workload alone, by their columns' names
    StopRule stop_rule = StopRule::none;
    bool used_inject = false;
    int pinned_threads = 0; // of the rank with the fewest
    int buffer_slots = 0;
    int ticks_lost = 0;            // of a duration: had no room in the samples
    std::int64_t started_ns = -1;  // since 1970-01-01
    std::int64_t duration_ns = -1; // wall time, verification and warm-up included
    std::int64_t late_limit_ns = -1;
    double warmup_p50_ns = 0;
    double clock_error_ns = 0;       // largest bound of the launch until the point ended
    std::vector<RankCounters> ranks; // [R], of the timed ops
    std::vector<NodeCounters> nodes; // [N]
    std::vector<std::string> told;   // [R], of a flow: what each rank said of it; empty of a point that was stored
    PhaseCounts verification;        // of the one before them; a baseline has none
    PhaseCounts before, after;       // the values themselves, just before the first of the ops and after the last
};

} // namespace a2aperf
