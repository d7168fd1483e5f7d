// SPDX-License-Identifier: BSD-3-Clause
#include "counter_group.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <string_view>

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
};

template <auto Member>
constexpr Number number(const char* name, h5::Kind kind, const char* units, const char* long_name) {
    return {name,
            kind,
            units,
            long_name,
            [](const RankCounters& c) { return static_cast<std::int64_t>(c.*Member); },
            [](RankCounters& c, std::int64_t value) {
                using T = std::remove_reference_t<decltype(c.*Member)>;
                c.*Member = static_cast<T>(value);
            }};
}

constexpr std::array kNumberTable{
    number<&RankCounters::voluntary_switches>("voluntary_switches", h5::Kind::int64, "",
                                              "voluntary context switches"),
    number<&RankCounters::involuntary_switches>("involuntary_switches", h5::Kind::int64, "",
                                                "involuntary context switches"),
    number<&RankCounters::minor_faults>("minor_faults", h5::Kind::int64, "", "page reclaims"),
    number<&RankCounters::major_faults>("major_faults", h5::Kind::int64, "", "page faults with I/O"),
    number<&RankCounters::user_time_ns>("user_time", h5::Kind::int64, "ns", "CPU time in user mode"),
    number<&RankCounters::system_time_ns>("system_time", h5::Kind::int64, "ns", "CPU time in the kernel"),
    number<&RankCounters::threads>("threads", h5::Kind::int32, "", "threads of the process after the point"),
};

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

} // namespace

CounterGroup CounterGroup::create(const h5::File& file, const h5::Dataset& point_scale, const Extents& extents,
                                  h5::Storage storage) {
    static_assert(kNumberTable.size() == kNumbers);
    const h5::Group group = file.create_group("counters");
    const h5::Dataset rank = create_scale(group, "rank", extents.ranks);
    const h5::Dataset node = create_scale(group, "node", extents.nodes);
    const h5::Dataset port = create_scale(group, "port_index", static_cast<int>(extents.c()));
    const auto create = [&](const char* name, h5::Type type, const h5::Shape& shape, const char* long_name,
                            const char* units = "") {
        h5::Dataset dataset = group.create_dataset(name, type, shape, storage);
        describe(dataset, long_name, units);
        return dataset;
    };
    CounterGroup counters;
    for (std::size_t i = 0; i < kNumbers; ++i) {
        const Number& number = kNumberTable[i];
        h5::Dataset& dataset = counters.numbers_[i] =
            create(number.name, {number.kind}, {extents.p(), extents.r()}, number.long_name, number.units);
        attach_scales(dataset, {&point_scale, &rank});
    }
    counters.thread_affinity_ = create("thread_affinity", {h5::Kind::fixed_text, kAffinityBytes},
                                       {extents.p(), extents.r()}, "CPU list of every thread");
    attach_scales(counters.thread_affinity_, {&point_scale, &rank});
    counters.interrupts_ = create("interrupts", {h5::Kind::int64}, {extents.p(), extents.n()},
                                  "interrupts of the fabric's driver on the node");
    attach_scales(counters.interrupts_, {&point_scale, &node});
    counters.port_ = create("port", {h5::Kind::int64}, {extents.p(), extents.n(), extents.c()},
                            "change of each of port_names on the node");
    attach_scales(counters.port_, {&point_scale, &node, &port});
    const h5::Dataset names = group.create_dataset("port_names", {h5::Kind::text}, {extents.c()});
    names.write_text(extents.port_names);
    attach_scales(names, {&port});
    counters.port_names_ = extents.port_names;
    return counters;
}

CounterGroup CounterGroup::open(const h5::File& file) {
    const h5::Group group = file.open_group("counters");
    CounterGroup counters;
    for (std::size_t i = 0; i < kNumbers; ++i) counters.numbers_[i] = group.open_dataset(kNumberTable[i].name);
    counters.thread_affinity_ = group.open_dataset("thread_affinity");
    counters.interrupts_ = group.open_dataset("interrupts");
    counters.port_ = group.open_dataset("port");
    counters.port_names_ = group.open_dataset("port_names").read_text();
    return counters;
}

bool CounterGroup::knows(const std::string& dataset) {
    constexpr std::array<std::string_view, 7> kOthers{
        "thread_affinity", "interrupts", "port", "port_names", "rank", "node", "port_index"};
    return std::find(kOthers.begin(), kOthers.end(), dataset) != kOthers.end() ||
           std::any_of(kNumberTable.begin(), kNumberTable.end(),
                       [&](const Number& number) { return number.name == dataset; });
}

void CounterGroup::require_shapes(const Extents& extents) const {
    for (const h5::Dataset& number : numbers_) number.require_shape({extents.p(), extents.r()});
    thread_affinity_.require_shape({extents.p(), extents.r()});
    interrupts_.require_shape({extents.p(), extents.n()});
    port_.require_shape({extents.p(), extents.n(), extents.c()});
}

void CounterGroup::write(int point, std::span<const RankCounters> ranks, std::span<const NodeCounters> nodes,
                         const std::vector<std::string>& names) const {
    const std::uint64_t rank_count = thread_affinity_.shape().at(1);
    const std::uint64_t node_count = interrupts_.shape().at(1);
    std::vector<std::int64_t> values(rank_count, -1);
    for (std::size_t i = 0; i < kNumbers; ++i) {
        std::transform(ranks.begin(), ranks.end(), values.begin(), kNumberTable[i].get);
        write_row(numbers_[i], point, values);
    }
    std::vector<char> affinities(rank_count * kAffinityBytes, '\0');
    for (std::size_t r = 0; r < ranks.size(); ++r)
        std::memcpy(&affinities[r * kAffinityBytes], ranks[r].thread_affinity, kAffinityBytes);
    thread_affinity_.write_fixed(affinities, row(point, rank_count));

    std::vector<std::int64_t> interrupts(node_count, -1);
    std::transform(nodes.begin(), nodes.end(), interrupts.begin(), std::mem_fn(&NodeCounters::interrupts));
    write_row(interrupts_, point, interrupts);

    std::vector<std::int64_t> ports(node_count * port_names_.size(), -1);
    for (std::size_t c = 0; c < names.size(); ++c) {
        const auto found = std::find(port_names_.begin(), port_names_.end(), names[c]);
        if (found == port_names_.end()) continue;
        const auto column = static_cast<std::size_t>(found - port_names_.begin());
        for (std::size_t n = 0; n < nodes.size(); ++n)
            if (c < nodes[n].ports.size()) ports[n * port_names_.size() + column] = nodes[n].ports[c];
    }
    port_.write(std::span<const std::int64_t>(ports), plane(point, node_count, port_names_.size()));
}

std::vector<RankCounters> CounterGroup::read_ranks(int point) const {
    const std::uint64_t count = thread_affinity_.shape().at(1);
    std::vector<RankCounters> ranks(count);
    for (std::size_t i = 0; i < kNumbers; ++i) {
        const std::vector<std::int64_t> values = numbers_[i].read<std::int64_t>(row(point, count));
        for (std::size_t r = 0; r < count; ++r) kNumberTable[i].set(ranks[r], values[r]);
    }
    const std::vector<char> affinities = thread_affinity_.read_fixed(kAffinityBytes, row(point, count));
    for (std::size_t r = 0; r < count; ++r)
        std::memcpy(ranks[r].thread_affinity, &affinities[r * kAffinityBytes], kAffinityBytes);
    return ranks;
}

std::vector<NodeCounters> CounterGroup::read_nodes(int point) const {
    const std::uint64_t count = interrupts_.shape().at(1);
    const std::vector<std::int64_t> interrupts = interrupts_.read<std::int64_t>(row(point, count));
    const std::vector<std::int64_t> ports = port_.read<std::int64_t>(plane(point, count, port_names_.size()));
    std::vector<NodeCounters> nodes(count);
    for (std::size_t n = 0; n < count; ++n) {
        const auto first = ports.begin() + static_cast<std::ptrdiff_t>(n * port_names_.size());
        nodes[n].interrupts = interrupts[n];
        nodes[n].ports.assign(first, first + static_cast<std::ptrdiff_t>(port_names_.size()));
    }
    return nodes;
}

std::uint64_t CounterGroup::bytes(const Extents& extents) {
    const std::uint64_t per_rank = kNumbers * sizeof(std::int64_t) + kAffinityBytes;
    return extents.p() * (extents.r() * per_rank + extents.n() * (1 + extents.c()) * sizeof(std::int64_t));
}

} // namespace a2aperf
