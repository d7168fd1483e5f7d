// SPDX-License-Identifier: BSD-3-Clause
// The counters of ranks and nodes, a row each: by what name they are in the file, and what of each is kept.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "a2aperf/result/point_result.hpp"
#include "h5.hpp"

namespace a2aperf {

// counter: its change in every phase, and what it had come to before and after a point. clock: its change alone,
// since a moment says nothing. level: what is there, no change; after a point's timed ops by its own name, and
// before them. moment: what is there before them and after.
enum class CounterKind { counter, clock, level, moment };

struct RankNumber {
    const char* name;
    h5::Kind kind;
    const char* units; // empty: none
    const char* long_name;
    std::int64_t (*get)(const RankCounters&);
    void (*set)(RankCounters&, std::int64_t);
    CounterKind counted;
    bool came_later; // older files lack it

    bool is_change() const { return counted == CounterKind::counter || counted == CounterKind::clock; }
    bool is_of_point() const { return counted != CounterKind::moment; } // by its own name
    bool is_read_before() const { return counted != CounterKind::clock; }
    bool is_read_after() const { return counted == CounterKind::counter || counted == CounterKind::moment; }
};

template <auto Member>
constexpr RankNumber rank_number(const char* name, h5::Kind kind, const char* units, const char* long_name,
                                 CounterKind counted = CounterKind::counter, bool came_later = false) {
    return {name,
            kind,
            units,
            long_name,
            [](const RankCounters& c) { return static_cast<std::int64_t>(c.*Member); },
            [](RankCounters& c, std::int64_t value) {
                using T = std::remove_reference_t<decltype(c.*Member)>;
                c.*Member = static_cast<T>(value);
            },
            counted,
            came_later};
}

inline constexpr std::array kRankNumbers{
    rank_number<&RankCounters::voluntary_switches>("voluntary_switches", h5::Kind::int64, "",
                                                   "voluntary context switches"),
    rank_number<&RankCounters::involuntary_switches>("involuntary_switches", h5::Kind::int64, "",
                                                     "involuntary context switches"),
    rank_number<&RankCounters::minor_faults>("minor_faults", h5::Kind::int64, "", "page reclaims"),
    rank_number<&RankCounters::major_faults>("major_faults", h5::Kind::int64, "", "page faults with I/O"),
    rank_number<&RankCounters::user_time_ns>("user_time", h5::Kind::int64, "ns", "CPU time in user mode"),
    rank_number<&RankCounters::system_time_ns>("system_time", h5::Kind::int64, "ns", "CPU time in the kernel"),
    rank_number<&RankCounters::wall_time_ns>("wall_time", h5::Kind::int64, "ns",
                                             "time in which the rank was counted", CounterKind::clock, true),
    rank_number<&RankCounters::threads>("threads", h5::Kind::int32, "", "threads of the process after the point",
                                        CounterKind::level),
    rank_number<&RankCounters::resident_memory>("resident_memory", h5::Kind::int64, "B",
                                                "resident memory of the process after the point",
                                                CounterKind::level, true),
    rank_number<&RankCounters::locked_memory>("locked_memory", h5::Kind::int64, "B",
                                              "locked or pinned memory of the process after the point",
                                              CounterKind::level, true),
    rank_number<&RankCounters::cpu_frequency_khz>("cpu_frequency", h5::Kind::int64, "kHz",
                                                  "frequency of the CPU that the rank was on", CounterKind::moment,
                                                  true),
};

struct NodeNumber {
    const char* name;
    const char* long_name;
    std::int64_t NodeCounters::*member;
    const char* units = "";
    CounterKind counted = CounterKind::counter;
};

// Older files have a part of them, from the first on.
inline constexpr std::array kNodeNumbers{
    NodeNumber{"interrupts", "interrupts of the fabric's driver on the node", &NodeCounters::interrupts},
    NodeNumber{"softirqs_net_rx", "softirqs NET_RX of all interfaces of the node", &NodeCounters::net_rx},
    NodeNumber{"softirqs_net_tx", "softirqs NET_TX of all interfaces of the node", &NodeCounters::net_tx},
    NodeNumber{"node_user_time", "CPU time of all CPUs of the node in user mode", &NodeCounters::user_time_ns,
               "ns"},
    NodeNumber{"node_system_time", "CPU time of all CPUs of the node in the kernel", &NodeCounters::system_time_ns,
               "ns"},
    NodeNumber{"node_irq_time", "CPU time of all CPUs of the node for interrupts", &NodeCounters::irq_time_ns,
               "ns"},
    NodeNumber{"node_softirq_time", "CPU time of all CPUs of the node for softirqs", &NodeCounters::softirq_time_ns,
               "ns"},
    NodeNumber{"node_steal_time", "time that a hypervisor took from all CPUs of the node",
               &NodeCounters::steal_time_ns, "ns"},
    NodeNumber{"node_idle_time", "time in which CPUs of the node were idle, of all together",
               &NodeCounters::idle_time_ns, "ns"},
    NodeNumber{"node_wall_time", "time in which the node was counted", &NodeCounters::wall_time_ns, "ns",
               CounterKind::clock},
};

// The box of a point in a dataset [P, rows, columns].
h5::Block plane(int point, std::uint64_t rows, std::uint64_t columns);

// [N, C] in the order of `order`, from counters in that of `names`; what is not there is -1.
std::vector<std::int64_t> ports_of(std::span<const NodeCounters> nodes, std::uint64_t count,
                                   const std::vector<std::string>& names, const std::vector<std::string>& order);

} // namespace a2aperf
