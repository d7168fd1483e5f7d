// SPDX-License-Identifier: BSD-3-Clause
#include "counter_group.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <string_view>

#include "counter_table.hpp"
#include "describe.hpp"
#include "scale.hpp"

namespace a2aperf {
namespace {

constexpr const char* kPort = "change of each of port_names on the node";
constexpr std::string_view kVerification = "verification_"; // before the names of what it counted

constexpr std::size_t kAffinityBytes = sizeof(RankCounters::thread_affinity);

h5::Block row(int point, std::uint64_t length) {
    return {{std::uint64_t(point), 0}, {1, length}};
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

std::string named(std::string_view prefix, const char* name) {
    return std::string(prefix) + name;
}

bool is_change(std::string_view name) {
    return name == "port" || std::ranges::find(kNodeNumbers, name, &NodeNumber::name) != kNodeNumbers.end() ||
           std::ranges::any_of(kRankNumbers,
                               [&](const RankNumber& one) { return one.is_change() && one.name == name; });
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
    for (const RankNumber& number : kRankNumbers) {
        if (!number.is_change()) continue;
        std::transform(counts.ranks.begin(), counts.ranks.end(), values.begin(), number.get);
        write(number.name, {values.size()}, values, number.long_name, number.units);
    }
    for (const NodeNumber& one : kNodeNumbers)
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
    const auto create_phase = [&](std::string_view prefix, bool (RankNumber::*is_in)() const, std::string_view of) {
        OfPhase phase;
        for (std::size_t i = 0; i < kRankNumbers.size(); ++i) {
            const RankNumber& number = kRankNumbers[i];
            if (!(number.*is_in)()) continue;
            phase.numbers.emplace_back(i,
                                       create(named(prefix, number.name), {number.kind}, {extents.p(), extents.r()},
                                              named(number.long_name, of.data()), number.units));
            attach_scales(phase.numbers.back().second, {&point_scale, &rank});
        }
        for (const NodeNumber& one : kNodeNumbers) {
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
    counters.timed_ = create_phase("", &RankNumber::is_of_point, "");
    counters.thread_affinity_ = create("thread_affinity", {h5::Kind::fixed_text, kAffinityBytes},
                                       {extents.p(), extents.r()}, "CPU list of every thread");
    attach_scales(counters.thread_affinity_, {&point_scale, &rank});
    counters.verification_ = create_phase(kVerification, &RankNumber::is_change, ", during the verification");
    counters.values_ = CounterValues::create(group, {point_scale, rank, node}, extents, storage);
    const h5::Dataset names = group.create_dataset("port_names", {h5::Kind::text}, {extents.c()});
    names.write_text(extents.port_names);
    attach_scales(names, {&port});
    counters.port_names_ = extents.port_names;
    return counters;
}

CounterGroup CounterGroup::open(const h5::File& file) {
    const h5::Group group = file.open_group("counters");
    const auto open_phase = [&](std::string_view prefix, bool (RankNumber::*is_in)() const) {
        OfPhase phase;
        const auto open = [&](const char* name) { return group.open_dataset(named(prefix, name).c_str()); };
        for (std::size_t i = 0; i < kRankNumbers.size(); ++i) {
            const RankNumber& number = kRankNumbers[i];
            if (!(number.*is_in)()) continue;
            if (number.came_later && !group.has(named(prefix, number.name).c_str())) continue;
            phase.numbers.emplace_back(i, open(number.name));
        }
        phase.of_nodes.push_back(open(kNodeNumbers.front().name));
        for (const NodeNumber& one : std::span(kNodeNumbers).subspan(1)) {
            if (!group.has(named(prefix, one.name).c_str())) break;
            phase.of_nodes.push_back(open(one.name));
        }
        phase.port = open("port");
        return phase;
    };
    CounterGroup counters;
    counters.timed_ = open_phase("", &RankNumber::is_of_point);
    counters.thread_affinity_ = group.open_dataset("thread_affinity");
    if (group.has(named(kVerification, "port").c_str()))
        counters.verification_ = open_phase(kVerification, &RankNumber::is_change);
    counters.values_ = CounterValues::open(group);
    counters.port_names_ = group.open_dataset("port_names").read_text();
    return counters;
}

bool CounterGroup::knows(const std::string& dataset) {
    constexpr std::array<std::string_view, 8> kOthers{"threads",       "thread_affinity", "resident_memory",
                                                      "locked_memory", "port_names",      "rank",
                                                      "node",          "port_index"};
    if (dataset.starts_with(kVerification)) return is_change(dataset.substr(kVerification.size()));
    return is_change(dataset) || CounterValues::knows(dataset) ||
           std::find(kOthers.begin(), kOthers.end(), dataset) != kOthers.end();
}

void CounterGroup::require_shapes(const Extents& extents) const {
    thread_affinity_.require_shape({extents.p(), extents.r()});
    for (const OfPhase* phase : {&timed_, &verification_}) {
        if (phase->numbers.empty()) continue;
        for (const auto& number : phase->numbers) number.second.require_shape({extents.p(), extents.r()});
        for (const h5::Dataset& one : phase->of_nodes) one.require_shape({extents.p(), extents.n()});
        phase->port.require_shape({extents.p(), extents.n(), extents.c()});
    }
    values_.require_shapes(extents);
}

void CounterGroup::write_ranks(const OfPhase& phase, int point, std::span<const RankCounters> ranks) const {
    std::vector<std::int64_t> values(thread_affinity_.shape().at(1), -1);
    for (const auto& [which, dataset] : phase.numbers) {
        std::transform(ranks.begin(), ranks.end(), values.begin(), kRankNumbers[which].get);
        write_row(dataset, point, values);
    }
}

void CounterGroup::write_nodes(const OfPhase& phase, int point, std::span<const NodeCounters> nodes,
                               const std::vector<std::string>& names) const {
    const std::uint64_t count = phase.port.shape().at(1);
    for (std::size_t i = 0; i < phase.of_nodes.size(); ++i)
        write_row(phase.of_nodes[i], point, values_of(nodes, count, kNodeNumbers[i].member));
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

void CounterGroup::write_values(int point, const PhaseCounts& before, const PhaseCounts& after,
                                const std::vector<std::string>& names) const {
    values_.write(point, before, after, names, port_names_);
}

std::vector<RankCounters> CounterGroup::read_ranks(const OfPhase& phase, int point) const {
    const std::uint64_t count = thread_affinity_.shape().at(1);
    std::vector<RankCounters> ranks(count);
    for (const RankNumber& number : kRankNumbers)
        if (number.came_later)
            for (RankCounters& rank : ranks) number.set(rank, -1); // of older files
    for (const auto& [which, dataset] : phase.numbers) {
        const std::vector<std::int64_t> values = dataset.read<std::int64_t>(row(point, count));
        for (std::size_t r = 0; r < count; ++r) kRankNumbers[which].set(ranks[r], values[r]);
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
        for (std::size_t n = 0; n < count; ++n) nodes[n].*kNodeNumbers[i].member = values[n];
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

PhaseCounts CounterGroup::read_before(int point) const {
    return values_.read_before(point, port_names_.size());
}

PhaseCounts CounterGroup::read_after(int point) const {
    return values_.read_after(point, port_names_.size());
}

std::uint64_t CounterGroup::bytes(const Extents& extents) {
    const auto count = [](bool (RankNumber::*is_in)() const) {
        return static_cast<std::uint64_t>(std::ranges::count_if(kRankNumbers, std::mem_fn(is_in)));
    };
    const std::uint64_t numbers = count(&RankNumber::is_of_point) + count(&RankNumber::is_change);
    const std::uint64_t per_rank = numbers * sizeof(std::int64_t) + kAffinityBytes;
    const std::uint64_t per_node = 2 * (kNodeNumbers.size() + extents.c()) * sizeof(std::int64_t);
    return extents.p() * (extents.r() * per_rank + extents.n() * per_node) + CounterValues::bytes(extents);
}

} // namespace a2aperf
