// SPDX-License-Identifier: BSD-3-Clause
#include "counter_group.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <string_view>

#include <fmt/format.h>

#include "describe.hpp"
#include "scale.hpp"

namespace a2aperf {
namespace {

struct Number {
    const char* name;
    h5::Kind kind;
    const char* units; // empty: none
    const char* long_name;
    std::int64_t (*get)(const RankCounters&);
    void (*set)(RankCounters&, std::int64_t);
    bool came_later; // older files lack it
};

template <auto Member>
constexpr Number number(const char* name, h5::Kind kind, const char* units, const char* long_name,
                        bool came_later = false) {
    return {name,
            kind,
            units,
            long_name,
            [](const RankCounters& c) { return static_cast<std::int64_t>(c.*Member); },
            [](RankCounters& c, std::int64_t value) {
                using T = std::remove_reference_t<decltype(c.*Member)>;
                c.*Member = static_cast<T>(value);
            },
            came_later};
}

// Those of every phase, then what is there after a point's timed ops.
constexpr std::array kNumberTable{
    number<&RankCounters::voluntary_switches>("voluntary_switches", h5::Kind::int64, "",
                                              "voluntary context switches"),
    number<&RankCounters::involuntary_switches>("involuntary_switches", h5::Kind::int64, "",
                                                "involuntary context switches"),
    number<&RankCounters::minor_faults>("minor_faults", h5::Kind::int64, "", "page reclaims"),
    number<&RankCounters::major_faults>("major_faults", h5::Kind::int64, "", "page faults with I/O"),
    number<&RankCounters::user_time_ns>("user_time", h5::Kind::int64, "ns", "CPU time in user mode"),
    number<&RankCounters::system_time_ns>("system_time", h5::Kind::int64, "ns", "CPU time in the kernel"),
    number<&RankCounters::wall_time_ns>("wall_time", h5::Kind::int64, "ns", "time in which the rank was counted",
                                        true),
    number<&RankCounters::threads>("threads", h5::Kind::int32, "", "threads of the process after the point"),
    number<&RankCounters::resident_memory>("resident_memory", h5::Kind::int64, "B",
                                           "resident memory of the process after the point", true),
    number<&RankCounters::locked_memory>("locked_memory", h5::Kind::int64, "B",
                                         "locked or pinned memory of the process after the point", true),
};

constexpr std::size_t kChanges = kNumberTable.size() - 3;

struct OfNode {
    const char* name;
    const char* long_name;
    std::int64_t NodeCounters::*member;
    const char* units = "";
};

// Older files have a part of them, from the first on.
constexpr std::array kNodeTable{
    OfNode{"interrupts", "interrupts of the fabric's driver on the node", &NodeCounters::interrupts},
    OfNode{"softirqs_net_rx", "softirqs NET_RX of all interfaces of the node", &NodeCounters::net_rx},
    OfNode{"softirqs_net_tx", "softirqs NET_TX of all interfaces of the node", &NodeCounters::net_tx},
    OfNode{"node_user_time", "CPU time of all CPUs of the node in user mode", &NodeCounters::user_time_ns, "ns"},
    OfNode{"node_system_time", "CPU time of all CPUs of the node in the kernel", &NodeCounters::system_time_ns,
           "ns"},
    OfNode{"node_irq_time", "CPU time of all CPUs of the node for interrupts", &NodeCounters::irq_time_ns, "ns"},
    OfNode{"node_softirq_time", "CPU time of all CPUs of the node for softirqs", &NodeCounters::softirq_time_ns,
           "ns"},
    OfNode{"node_steal_time", "time that a hypervisor took from all CPUs of the node", &NodeCounters::steal_time_ns,
           "ns"},
    OfNode{"node_idle_time", "time in which CPUs of the node were idle, of all together",
           &NodeCounters::idle_time_ns, "ns"},
    OfNode{"node_wall_time", "time in which the node was counted", &NodeCounters::wall_time_ns, "ns"},
};
constexpr const char* kPort = "change of each of port_names on the node";
constexpr std::string_view kVerification = "verification_"; // before the names of what it counted

constexpr std::size_t kAffinityBytes = sizeof(RankCounters::thread_affinity);

h5::Block row(int point, std::uint64_t length) {
    return {{std::uint64_t(point), 0}, {1, length}};
}

h5::Block plane(int point, std::uint64_t rows, std::uint64_t columns) {
    return {{std::uint64_t(point), 0, 0}, {1, rows, columns}};
}

void write_row(const h5::Dataset& dataset, int point, const std::vector<std::int64_t>& values) {
    dataset.write(std::span<const std::int64_t>(values), row(point, values.size()));
}

std::vector<std::int64_t> values_of(std::span<const NodeCounters> nodes, std::uint64_t count,
                                    std::int64_t NodeCounters::*member) {
    std::vector<std::int64_t> values(count, -1);
    std::transform(nodes.begin(), nodes.end(), values.begin(), std::mem_fn(member));
    return values;
}

// [N, C] in the order of `order`, from counters in that of `names`.
std::vector<std::int64_t> ports_of(std::span<const NodeCounters> nodes, std::uint64_t count,
                                   const std::vector<std::string>& names, const std::vector<std::string>& order) {
    std::vector<std::int64_t> ports(count * order.size(), -1);
    for (std::size_t c = 0; c < names.size(); ++c) {
        const auto found = std::find(order.begin(), order.end(), names[c]);
        if (found == order.end()) continue;
        const auto column = static_cast<std::size_t>(found - order.begin());
        for (std::size_t n = 0; n < nodes.size(); ++n)
            if (c < nodes[n].ports.size()) ports[n * order.size() + column] = nodes[n].ports[c];
    }
    return ports;
}

std::string named(std::string_view prefix, const char* name) {
    return std::string(prefix) + name;
}

bool is_change(std::string_view name) {
    const auto has_name = [&](const auto& entry) { return entry.name == name; };
    return name == "port" || std::any_of(kNodeTable.begin(), kNodeTable.end(), has_name) ||
           std::any_of(kNumberTable.begin(), kNumberTable.begin() + kChanges, has_name);
}

} // namespace

void write_counts(const h5::Group& group, const PhaseCounts& counts, const std::vector<std::string>& port_names) {
    const std::uint64_t nodes = counts.nodes.size();
    const auto write = [&](const char* name, const h5::Shape& shape, const std::vector<std::int64_t>& values,
                           const char* long_name, const char* units = "") {
        const h5::Dataset dataset = group.create_dataset(name, {h5::Kind::int64}, shape);
        describe(dataset, long_name, units);
        dataset.write(std::span<const std::int64_t>(values));
    };
    std::vector<std::int64_t> values(counts.ranks.size());
    for (std::size_t i = 0; i < kChanges; ++i) {
        const Number& number = kNumberTable[i];
        std::transform(counts.ranks.begin(), counts.ranks.end(), values.begin(), number.get);
        write(number.name, {values.size()}, values, number.long_name, number.units);
    }
    for (const OfNode& one : kNodeTable)
        write(one.name, {nodes}, values_of(counts.nodes, nodes, one.member), one.long_name, one.units);
    write("port", {nodes, port_names.size()}, ports_of(counts.nodes, nodes, port_names, port_names), kPort);
    group.create_dataset("port_names", {h5::Kind::text}, {port_names.size()}).write_text(port_names);
}

CounterGroup CounterGroup::create(const h5::File& file, const h5::Dataset& point_scale, const Extents& extents,
                                  h5::Storage storage) {
    const h5::Group group = file.create_group("counters");
    const h5::Dataset rank = create_scale(group, "rank", extents.ranks);
    const h5::Dataset node = create_scale(group, "node", extents.nodes);
    const h5::Dataset port = create_scale(group, "port_index", static_cast<int>(extents.c()));
    const auto create = [&](const std::string& name, h5::Type type, const h5::Shape& shape,
                            const std::string& long_name, const char* units = "") {
        h5::Dataset dataset = group.create_dataset(name.c_str(), type, shape, storage);
        describe(dataset, long_name, units);
        return dataset;
    };
    const auto create_phase = [&](std::string_view prefix, std::size_t numbers, std::string_view of) {
        OfPhase phase;
        for (std::size_t i = 0; i < numbers; ++i) {
            const Number& number = kNumberTable[i];
            phase.numbers.emplace_back(i,
                                       create(named(prefix, number.name), {number.kind}, {extents.p(), extents.r()},
                                              named(number.long_name, of.data()), number.units));
            attach_scales(phase.numbers.back().second, {&point_scale, &rank});
        }
        for (const OfNode& one : kNodeTable) {
            phase.of_nodes.push_back(create(named(prefix, one.name), {h5::Kind::int64}, {extents.p(), extents.n()},
                                            named(one.long_name, of.data()), one.units));
            attach_scales(phase.of_nodes.back(), {&point_scale, &node});
        }
        phase.port = create(named(prefix, "port"), {h5::Kind::int64}, {extents.p(), extents.n(), extents.c()},
                            named(kPort, of.data()));
        attach_scales(phase.port, {&point_scale, &node, &port});
        return phase;
    };
    CounterGroup counters;
    counters.timed_ = create_phase("", kNumberTable.size(), "");
    counters.thread_affinity_ = create("thread_affinity", {h5::Kind::fixed_text, kAffinityBytes},
                                       {extents.p(), extents.r()}, "CPU list of every thread");
    attach_scales(counters.thread_affinity_, {&point_scale, &rank});
    counters.verification_ = create_phase(kVerification, kChanges, ", during the verification");
    const h5::Dataset names = group.create_dataset("port_names", {h5::Kind::text}, {extents.c()});
    names.write_text(extents.port_names);
    attach_scales(names, {&port});
    counters.port_names_ = extents.port_names;
    return counters;
}

CounterGroup CounterGroup::open(const h5::File& file) {
    const h5::Group group = file.open_group("counters");
    const auto open_phase = [&](std::string_view prefix, std::size_t numbers) {
        OfPhase phase;
        const auto open = [&](const char* name) { return group.open_dataset(named(prefix, name).c_str()); };
        for (std::size_t i = 0; i < numbers; ++i) {
            const Number& number = kNumberTable[i];
            if (number.came_later && !group.has(named(prefix, number.name).c_str())) continue;
            phase.numbers.emplace_back(i, open(number.name));
        }
        phase.of_nodes.push_back(open(kNodeTable.front().name));
        for (const OfNode& one : std::span(kNodeTable).subspan(1)) {
            if (!group.has(named(prefix, one.name).c_str())) break;
            phase.of_nodes.push_back(open(one.name));
        }
        phase.port = open("port");
        return phase;
    };
    CounterGroup counters;
    counters.timed_ = open_phase("", kNumberTable.size());
    counters.thread_affinity_ = group.open_dataset("thread_affinity");
    if (group.has(named(kVerification, "port").c_str()))
        counters.verification_ = open_phase(kVerification, kChanges);
    counters.port_names_ = group.open_dataset("port_names").read_text();
    return counters;
}

bool CounterGroup::knows(const std::string& dataset) {
    constexpr std::array<std::string_view, 8> kOthers{"threads",       "thread_affinity", "resident_memory",
                                                      "locked_memory", "port_names",      "rank",
                                                      "node",          "port_index"};
    if (dataset.starts_with(kVerification)) return is_change(dataset.substr(kVerification.size()));
    return is_change(dataset) || std::find(kOthers.begin(), kOthers.end(), dataset) != kOthers.end();
}

void CounterGroup::require_shapes(const Extents& extents) const {
    thread_affinity_.require_shape({extents.p(), extents.r()});
    for (const OfPhase* phase : {&timed_, &verification_}) {
        if (phase->numbers.empty()) continue;
        for (const auto& number : phase->numbers) number.second.require_shape({extents.p(), extents.r()});
        for (const h5::Dataset& one : phase->of_nodes) one.require_shape({extents.p(), extents.n()});
        phase->port.require_shape({extents.p(), extents.n(), extents.c()});
    }
}

void CounterGroup::write_ranks(const OfPhase& phase, int point, std::span<const RankCounters> ranks) const {
    std::vector<std::int64_t> values(thread_affinity_.shape().at(1), -1);
    for (const auto& [which, dataset] : phase.numbers) {
        std::transform(ranks.begin(), ranks.end(), values.begin(), kNumberTable[which].get);
        write_row(dataset, point, values);
    }
}

void CounterGroup::write_nodes(const OfPhase& phase, int point, std::span<const NodeCounters> nodes,
                               const std::vector<std::string>& names) const {
    const std::uint64_t count = phase.port.shape().at(1);
    for (std::size_t i = 0; i < phase.of_nodes.size(); ++i)
        write_row(phase.of_nodes[i], point, values_of(nodes, count, kNodeTable[i].member));
    phase.port.write(std::span<const std::int64_t>(ports_of(nodes, count, names, port_names_)),
                     plane(point, count, port_names_.size()));
}

void CounterGroup::write(int point, std::span<const RankCounters> ranks, std::span<const NodeCounters> nodes,
                         const std::vector<std::string>& names) const {
    write_ranks(timed_, point, ranks);
    const std::uint64_t rank_count = thread_affinity_.shape().at(1);
    std::vector<char> affinities(rank_count * kAffinityBytes, '\0');
    for (std::size_t r = 0; r < ranks.size(); ++r)
        std::memcpy(&affinities[r * kAffinityBytes], ranks[r].thread_affinity, kAffinityBytes);
    thread_affinity_.write_fixed(affinities, row(point, rank_count));
    write_nodes(timed_, point, nodes, names);
}

void CounterGroup::write_verification(int point, const PhaseCounts& counts,
                                      const std::vector<std::string>& names) const {
    write_ranks(verification_, point, counts.ranks);
    write_nodes(verification_, point, counts.nodes, names);
}

std::vector<RankCounters> CounterGroup::read_ranks(const OfPhase& phase, int point) const {
    const std::uint64_t count = thread_affinity_.shape().at(1);
    std::vector<RankCounters> ranks(count);
    for (const Number& number : kNumberTable)
        if (number.came_later)
            for (RankCounters& rank : ranks) number.set(rank, -1); // of older files
    for (const auto& [which, dataset] : phase.numbers) {
        const std::vector<std::int64_t> values = dataset.read<std::int64_t>(row(point, count));
        for (std::size_t r = 0; r < count; ++r) kNumberTable[which].set(ranks[r], values[r]);
    }
    return ranks;
}

std::vector<RankCounters> CounterGroup::read_ranks(int point) const {
    std::vector<RankCounters> ranks = read_ranks(timed_, point);
    const std::vector<char> affinities = thread_affinity_.read_fixed(kAffinityBytes, row(point, ranks.size()));
    for (std::size_t r = 0; r < ranks.size(); ++r)
        std::memcpy(ranks[r].thread_affinity, &affinities[r * kAffinityBytes], kAffinityBytes);
    return ranks;
}

std::vector<NodeCounters> CounterGroup::read_nodes(const OfPhase& phase, int point) const {
    const std::uint64_t count = phase.port.shape().at(1);
    const std::vector<std::int64_t> ports = phase.port.read<std::int64_t>(plane(point, count, port_names_.size()));
    std::vector<NodeCounters> nodes(count);
    for (std::size_t n = 0; n < count; ++n) {
        const auto first = ports.begin() + static_cast<std::ptrdiff_t>(n * port_names_.size());
        nodes[n].ports.assign(first, first + static_cast<std::ptrdiff_t>(port_names_.size()));
    }
    for (std::size_t i = 0; i < phase.of_nodes.size(); ++i) {
        const std::vector<std::int64_t> values = phase.of_nodes[i].read<std::int64_t>(row(point, count));
        for (std::size_t n = 0; n < count; ++n) nodes[n].*kNodeTable[i].member = values[n];
    }
    return nodes;
}

std::vector<NodeCounters> CounterGroup::read_nodes(int point) const {
    return read_nodes(timed_, point);
}

PhaseCounts CounterGroup::read_verification(int point) const {
    if (verification_.numbers.empty()) return {};
    return {read_ranks(verification_, point), read_nodes(verification_, point)};
}

std::uint64_t CounterGroup::bytes(const Extents& extents) {
    const std::uint64_t per_rank = (kNumberTable.size() + kChanges) * sizeof(std::int64_t) + kAffinityBytes;
    return extents.p() *
           (extents.r() * per_rank + 2 * extents.n() * (kNodeTable.size() + extents.c()) * sizeof(std::int64_t));
}

} // namespace a2aperf
