// SPDX-License-Identifier: BSD-3-Clause
#include "raw_group.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "describe.hpp"
#include "scale.hpp"

namespace a2aperf {
namespace {

// Nothing that is stored grows more than this when it is unpacked (deflate's limit is 1032).
constexpr std::uint64_t kMostUnpacked = 1100;

// Of one point.
h5::Block first_of(Per per, int point, const Made& made, std::uint64_t ranks) {
    const Lengths lengths{1, static_cast<std::uint64_t>(made.attempts), static_cast<std::uint64_t>(made.ticks),
                          ranks, static_cast<std::uint64_t>(made.buckets)};
    h5::Block block{{}, shape_of(per, lengths)};
    block.offset.assign(block.count.size(), 0);
    block.offset.front() = static_cast<std::uint64_t>(point);
    return block;
}

Made made_of(const Samples& samples) {
    return {samples.attempts(), samples.ticks, samples.buckets};
}

Lengths lengths_of(const Extents& extents) {
    return {extents.p(), extents.a(), extents.t(), extents.r(), extents.b()};
}

bool has(std::span<const SampleColumn> columns, Per per) {
    return std::any_of(columns.begin(), columns.end(),
                       [&](const SampleColumn& column) { return column.per == per; });
}

bool is_of_each_rank(const SampleColumn& column) {
    return column.per == Per::rank && column.kept == Kept::always;
}

} // namespace

h5::Shape shape_of(Per per, const Lengths& lengths) {
    switch (per) {
    case Per::op:
        return {lengths.points, lengths.attempts};
    case Per::rank:
        return {lengths.points, lengths.attempts, lengths.ranks};
    case Per::message:
        return {lengths.points, lengths.attempts, lengths.ranks, lengths.ranks};
    case Per::tick:
        return {lengths.points, lengths.ticks, lengths.ranks};
    case Per::bucket:
        return {lengths.points, lengths.buckets, lengths.ranks};
    }
    return {};
}

RawGroup RawGroup::create(const h5::File& file, const h5::Dataset& point_scale, const Extents& extents,
                          h5::Storage storage) {
    const h5::Group group = file.create_group("raw");
    const h5::Dataset attempt = create_scale(group, "attempt", extents.attempts);
    const h5::Dataset rank = create_scale(group, "rank", extents.ranks);
    const bool has_messages = has(extents.samples, Per::message);
    const h5::Dataset source = has_messages ? create_scale(group, "source", extents.ranks) : h5::Dataset();
    const bool has_ticks = has(extents.samples, Per::tick);
    const h5::Dataset tick = has_ticks ? create_scale(group, "tick", extents.ticks) : h5::Dataset();
    const bool has_buckets = has(extents.samples, Per::bucket);
    const h5::Dataset bucket = has_buckets ? create_scale(group, "bucket", extents.buckets) : h5::Dataset();
    const auto along = [&](Per per) { return per == Per::tick ? &tick : per == Per::bucket ? &bucket : &attempt; };
    RawGroup raw;
    raw.columns_ = extents.samples;
    for (const SampleColumn& column : raw.columns_) {
        const h5::Shape shape = shape_of(column.per, lengths_of(extents));
        const h5::Dataset& dataset = raw.datasets_.emplace_back(
            group.create_dataset(std::string(column.name).c_str(), {column.type}, shape, storage));
        describe(dataset, column.long_name, column.units);
        if (column.per == Per::tick) dataset.set(kCountAttribute, kTickCount);
        if (column.per == Per::bucket) dataset.set(kCountAttribute, kBucketCount);
        unsigned axis = 0;
        for (const h5::Dataset* scale : {&point_scale, along(column.per), &rank, &source})
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
        datasets_[i].require_shape(shape_of(columns_[i].per, lengths_of(extents)));
}

Lengths RawGroup::lengths() const {
    Lengths lengths{};
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        const Per per = columns_[i].per;
        if (!is_of_each_rank(columns_[i]) && per != Per::tick && per != Per::bucket) continue;
        const h5::Shape shape = datasets_[i].shape();
        if (shape.size() != 3) datasets_[i].throw_unreadable("has samples of another shape");
        if (per == Per::tick)
            lengths.ticks = shape[1];
        else if (per == Per::bucket)
            lengths.buckets = shape[1];
        else
            lengths = {shape[0], shape[1], lengths.ticks, shape[2], lengths.buckets};
    }
    return lengths;
}

// By the bytes of the column that takes least, of those that each rank must have.
bool RawGroup::has_room(Per per, std::uint64_t count) const {
    std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
    for (std::size_t i = 0; i < columns_.size(); ++i)
        if (columns_[i].per == per && (columns_[i].kept == Kept::always || per == Per::bucket))
            least = std::min(least, datasets_[i].stored_bytes());
    return count * lengths().ranks * sizeof(Nanoseconds) <= least * kMostUnpacked;
}

bool RawGroup::can_hold(const Made& made) const {
    const Lengths room = lengths();
    const auto fits = [&](Per per, std::int64_t count, std::uint64_t most) {
        return count >= 0 && static_cast<std::uint64_t>(count) <= most &&
               (count == 0 || has_room(per, static_cast<std::uint64_t>(count)));
    };
    return fits(Per::rank, made.attempts, room.attempts) && fits(Per::tick, made.ticks, room.ticks) &&
           fits(Per::bucket, made.buckets, room.buckets);
}

void RawGroup::write(int point, const Samples& samples) const {
    for (std::size_t i = 0; i < columns_.size(); ++i)
        datasets_[i].write(
            std::span<const std::int64_t>(columns_[i].of(samples)),
            first_of(columns_[i].per, point, made_of(samples), static_cast<std::uint64_t>(samples.ranks)));
}

Samples RawGroup::read(int point, const Made& made) const {
    const std::uint64_t ranks = lengths().ranks;
    Samples samples;
    samples.ranks = static_cast<int>(ranks);
    samples.ticks = static_cast<int>(made.ticks);
    samples.buckets = static_cast<int>(made.buckets);
    for (std::size_t i = 0; i < columns_.size(); ++i)
        columns_[i].of(samples) = datasets_[i].read<std::int64_t>(first_of(columns_[i].per, point, made, ranks));
    return samples;
}

std::uint64_t RawGroup::bytes(const Extents& extents) {
    std::uint64_t bytes = 0;
    for (const SampleColumn& column : extents.samples)
        bytes += h5::elements(shape_of(column.per, lengths_of(extents))) * bytes_of(column.type);
    return bytes;
}

} // namespace a2aperf
