// SPDX-License-Identifier: BSD-3-Clause
#include "raw_group.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "describe.hpp"
#include "scale.hpp"

namespace a2aperf {
namespace {

h5::Block first_attempts(Per per, int point, std::size_t attempts, int ranks) {
    h5::Block block{{}, shape_of(per, 1, attempts, static_cast<std::uint64_t>(ranks))};
    block.offset.assign(block.count.size(), 0);
    block.offset.front() = static_cast<std::uint64_t>(point);
    return block;
}

bool is_of_each_rank(const SampleColumn& column) {
    return column.per == Per::rank && column.kept == Kept::always;
}

} // namespace

h5::Shape shape_of(Per per, std::uint64_t points, std::uint64_t attempts, std::uint64_t ranks) {
    switch (per) {
    case Per::op:
        return {points, attempts};
    case Per::rank:
        return {points, attempts, ranks};
    case Per::message:
        return {points, attempts, ranks, ranks};
    }
    return {};
}

RawGroup RawGroup::create(const h5::File& file, const h5::Dataset& point_scale, const Extents& extents,
                          h5::Storage storage) {
    const h5::Group group = file.create_group("raw");
    const h5::Dataset attempt = create_scale(group, "attempt", extents.attempts);
    const h5::Dataset rank = create_scale(group, "rank", extents.ranks);
    const bool has_messages = std::any_of(extents.samples.begin(), extents.samples.end(),
                                          [](const SampleColumn& column) { return column.per == Per::message; });
    const h5::Dataset source = has_messages ? create_scale(group, "source", extents.ranks) : h5::Dataset();
    RawGroup raw;
    raw.columns_ = extents.samples;
    for (const SampleColumn& column : raw.columns_) {
        const h5::Shape shape = shape_of(column.per, extents.p(), extents.a(), extents.r());
        const h5::Dataset& dataset = raw.datasets_.emplace_back(
            group.create_dataset(std::string(column.name).c_str(), {column.type}, shape, storage));
        describe(dataset, column.long_name, column.units);
        unsigned axis = 0;
        for (const h5::Dataset* scale : {&point_scale, &attempt, &rank, &source})
            if (axis < shape.size()) dataset.attach_scale(axis++, *scale);
    }
    return raw;
}

RawGroup RawGroup::open(const h5::File& file, std::span<const SampleColumn> declared) {
    const h5::Group group = file.open_group("raw");
    RawGroup raw;
    for (const SampleColumn& column : declared) {
        const std::string name(column.name);
        if (column.kept != Kept::always && !group.has(name.c_str())) continue;
        raw.datasets_.push_back(group.open_dataset(name.c_str()));
        raw.columns_.push_back(column);
    }
    return raw;
}

void RawGroup::require_shapes(const Extents& extents) const {
    for (std::size_t i = 0; i < columns_.size(); ++i)
        datasets_[i].require_shape(shape_of(columns_[i].per, extents.p(), extents.a(), extents.r()));
}

h5::Shape RawGroup::shape() const {
    const auto first = std::find_if(columns_.begin(), columns_.end(), is_of_each_rank);
    return datasets_[static_cast<std::size_t>(first - columns_.begin())].shape();
}

std::uint64_t RawGroup::stored_bytes() const {
    std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
    for (std::size_t i = 0; i < columns_.size(); ++i)
        if (is_of_each_rank(columns_[i])) least = std::min(least, datasets_[i].stored_bytes());
    return least;
}

void RawGroup::write(int point, const Samples& samples) const {
    for (std::size_t i = 0; i < columns_.size(); ++i)
        datasets_[i].write(std::span<const std::int64_t>(columns_[i].of(samples)),
                           first_attempts(columns_[i].per, point, samples.start.size(), samples.ranks));
}

Samples RawGroup::read(int point, int attempts) const {
    Samples samples;
    samples.ranks = static_cast<int>(shape().at(2));
    for (std::size_t i = 0; i < columns_.size(); ++i)
        columns_[i].of(samples) = datasets_[i].read<std::int64_t>(
            first_attempts(columns_[i].per, point, static_cast<std::size_t>(attempts), samples.ranks));
    return samples;
}

std::uint64_t RawGroup::bytes(const Extents& extents) {
    std::uint64_t bytes = 0;
    for (const SampleColumn& column : extents.samples)
        bytes += h5::elements(shape_of(column.per, extents.p(), extents.a(), extents.r())) * bytes_of(column.type);
    return bytes;
}

} // namespace a2aperf
