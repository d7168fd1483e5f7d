// SPDX-License-Identifier: BSD-3-Clause
#include "counter_values.hpp"

#include <algorithm>
#include <iterator>
#include <sstream>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "counter_table.hpp"
#include "describe.hpp"
#include "scale.hpp"

namespace a2aperf {
namespace {

constexpr const char* kOfRanks = "values_of_ranks";
constexpr const char* kOfNodes = "values_of_nodes";
constexpr const char* kRankScale = "rank_value";
constexpr const char* kNodeScale = "node_value";
constexpr const char* kColumnsAttribute = "counters";
constexpr std::string_view kBefore = "before_";
constexpr std::string_view kAfter = "after_";
constexpr std::string_view kPortColumn = "port";

// Whose values a column is, and of which moment.
struct ValueColumn {
    bool is_of(std::string_view moment) const { return name.starts_with(moment); }
    std::string_view counter() const { return std::string_view(name).substr(name.find('_') + 1); }

    const std::string& name;
};

std::vector<std::string> columns_of_ranks() {
    std::vector<std::string> columns;
    for (const RankNumber& number : kRankNumbers)
        if (number.is_read_before()) columns.push_back(fmt::format("{}{}", kBefore, number.name));
    for (const RankNumber& number : kRankNumbers)
        if (number.is_read_after()) columns.push_back(fmt::format("{}{}", kAfter, number.name));
    return columns;
}

std::vector<std::string> columns_of_nodes() {
    std::vector<std::string> columns;
    for (const std::string_view moment : {kBefore, kAfter})
        for (const NodeNumber& number : kNodeNumbers)
            if (number.counted == CounterKind::counter) columns.push_back(fmt::format("{}{}", moment, number.name));
    for (const std::string_view moment : {kBefore, kAfter})
        columns.push_back(fmt::format("{}{}", moment, kPortColumn));
    return columns;
}

// Of so many ports.
std::size_t width_of(const std::vector<std::string>& columns, std::size_t ports) {
    std::size_t width = 0;
    for (const std::string& column : columns) width += ValueColumn{column}.counter() == kPortColumn ? ports : 1;
    return width;
}

std::vector<std::string> columns_in(const h5::Dataset& dataset, const std::vector<std::string>& known) {
    std::istringstream text(dataset.text_attribute(kColumnsAttribute));
    std::vector<std::string> columns{std::istream_iterator<std::string>(text), {}};
    for (const std::string& column : columns)
        if (std::ranges::find(known, column) == known.end())
            dataset.throw_unreadable(fmt::format("has {}, which this program does not know", column));
    return columns;
}

const RankNumber& rank_number_of(const ValueColumn& column) {
    return *std::ranges::find(kRankNumbers, column.counter(),
                              [](const RankNumber& one) { return std::string_view(one.name); });
}

const NodeNumber& node_number_of(const ValueColumn& column) {
    return *std::ranges::find(kNodeNumbers, column.counter(),
                              [](const NodeNumber& one) { return std::string_view(one.name); });
}

} // namespace

CounterValues CounterValues::create(const h5::Group& counters, const Scales& scales, const Extents& extents,
                                    h5::Storage storage) {
    const auto create = [&](const char* name, const std::vector<std::string>& columns, const char* scale_name,
                            const h5::Dataset& of, std::uint64_t count, const char* long_name) {
        const std::size_t width = width_of(columns, extents.c());
        const h5::Dataset scale = create_scale(counters, scale_name, static_cast<int>(width));
        const h5::Dataset dataset =
            counters.create_dataset(name, {h5::Kind::int64}, {extents.p(), count, width}, storage);
        describe(dataset, long_name);
        dataset.set(kColumnsAttribute, std::string_view(fmt::format("{}", fmt::join(columns, " "))));
        attach_scales(dataset, {&scales.point, &of, &scale});
    };
    create(kOfRanks, columns_of_ranks(), kRankScale, scales.rank, extents.r(),
           "values of each of counters just before and just after the point");
    create(kOfNodes, columns_of_nodes(), kNodeScale, scales.node, extents.n(),
           "values of each of counters, port being all of port_names, just before and just after the point");
    return open(counters);
}

CounterValues CounterValues::open(const h5::Group& counters) {
    CounterValues values;
    if (!counters.has(kOfRanks)) return values;
    values.of_ranks_.dataset = counters.open_dataset(kOfRanks);
    values.of_ranks_.columns = columns_in(values.of_ranks_.dataset, columns_of_ranks());
    values.of_nodes_.dataset = counters.open_dataset(kOfNodes);
    values.of_nodes_.columns = columns_in(values.of_nodes_.dataset, columns_of_nodes());
    return values;
}

bool CounterValues::knows(const std::string& dataset) {
    return dataset == kOfRanks || dataset == kOfNodes || dataset == kRankScale || dataset == kNodeScale;
}

void CounterValues::require_shapes(const Extents& extents) const {
    if (!of_ranks_.dataset.is_open()) return;
    of_ranks_.dataset.require_shape({extents.p(), extents.r(), of_ranks_.columns.size()});
    of_nodes_.dataset.require_shape({extents.p(), extents.n(), width_of(of_nodes_.columns, extents.c())});
}

void CounterValues::write(int point, const PhaseCounts& before, const PhaseCounts& after,
                          const std::vector<std::string>& names, const std::vector<std::string>& order) const {
    if (!of_ranks_.dataset.is_open()) return;
    const std::uint64_t ranks = of_ranks_.dataset.shape().at(1);
    std::size_t width = of_ranks_.columns.size();
    std::vector<std::int64_t> values(ranks * width, -1);
    for (std::size_t c = 0; c < width; ++c) {
        const ValueColumn column{of_ranks_.columns[c]};
        const RankNumber& number = rank_number_of(column);
        const PhaseCounts& read = column.is_of(kBefore) ? before : after;
        for (std::size_t r = 0; r < read.ranks.size(); ++r) values[r * width + c] = number.get(read.ranks[r]);
    }
    of_ranks_.dataset.write(std::span<const std::int64_t>(values), plane(point, ranks, width));

    const std::uint64_t nodes = of_nodes_.dataset.shape().at(1);
    width = width_of(of_nodes_.columns, order.size());
    values.assign(nodes * width, -1);
    std::size_t c = 0;
    for (const std::string& name : of_nodes_.columns) {
        const ValueColumn column{name};
        const PhaseCounts& read = column.is_of(kBefore) ? before : after;
        if (column.counter() == kPortColumn) {
            const std::vector<std::int64_t> ports = ports_of(read.nodes, nodes, names, order);
            for (std::size_t i = 0; i < ports.size(); ++i)
                values[i / order.size() * width + c + i % order.size()] = ports[i];
            c += order.size();
            continue;
        }
        const auto member = node_number_of(column).member;
        for (std::size_t n = 0; n < read.nodes.size(); ++n) values[n * width + c] = read.nodes[n].*member;
        ++c;
    }
    of_nodes_.dataset.write(std::span<const std::int64_t>(values), plane(point, nodes, width));
}

PhaseCounts CounterValues::read(std::string_view moment, int point, std::size_t ports) const {
    if (!of_ranks_.dataset.is_open()) return {};
    RankCounters unknown{};
    for (const RankNumber& number : kRankNumbers) number.set(unknown, -1);
    const std::uint64_t ranks = of_ranks_.dataset.shape().at(1);
    std::size_t width = of_ranks_.columns.size();
    std::vector<std::int64_t> values = of_ranks_.dataset.read<std::int64_t>(plane(point, ranks, width));
    PhaseCounts counts{std::vector<RankCounters>(ranks, unknown), {}};
    for (std::size_t c = 0; c < width; ++c) {
        const ValueColumn column{of_ranks_.columns[c]};
        if (!column.is_of(moment)) continue;
        const RankNumber& number = rank_number_of(column);
        for (std::size_t r = 0; r < ranks; ++r) number.set(counts.ranks[r], values[r * width + c]);
    }

    const std::uint64_t nodes = of_nodes_.dataset.shape().at(1);
    width = width_of(of_nodes_.columns, ports);
    values = of_nodes_.dataset.read<std::int64_t>(plane(point, nodes, width));
    counts.nodes.resize(nodes);
    for (NodeCounters& node : counts.nodes) node.ports.assign(ports, -1);
    std::size_t c = 0;
    for (const std::string& name : of_nodes_.columns) {
        const ValueColumn column{name};
        const bool is_port = column.counter() == kPortColumn;
        for (std::size_t n = 0; column.is_of(moment) && n < nodes; ++n) {
            const std::int64_t* const own = values.data() + n * width + c; // the end where the last are no ports
            if (is_port)
                counts.nodes[n].ports.assign(own, own + ports);
            else
                counts.nodes[n].*node_number_of(column).member = *own;
        }
        c += is_port ? ports : 1;
    }
    return counts;
}

PhaseCounts CounterValues::read_before(int point, std::size_t ports) const {
    return read(kBefore, point, ports);
}

PhaseCounts CounterValues::read_after(int point, std::size_t ports) const {
    return read(kAfter, point, ports);
}

std::uint64_t CounterValues::bytes(const Extents& extents) {
    const std::uint64_t per_point =
        extents.r() * columns_of_ranks().size() + extents.n() * width_of(columns_of_nodes(), extents.c());
    return extents.p() * per_point * sizeof(std::int64_t);
}

} // namespace a2aperf
