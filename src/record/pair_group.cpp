// SPDX-License-Identifier: BSD-3-Clause
#include "pair_group.hpp"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "scale.hpp"

namespace a2aperf {
namespace {

using h5::Kind;

h5::Dataset create_described(const h5::Group& group, const char* name, Kind kind, const h5::Shape& shape,
                             h5::Storage storage, std::string_view units, std::string_view long_name) {
    h5::Dataset dataset = group.create_dataset(name, {kind}, shape, storage);
    dataset.set("long_name", long_name);
    if (!units.empty()) dataset.set("units", units);
    return dataset;
}

void mark_unknown(const h5::Dataset& dataset, Kind kind) {
    if (kind == Kind::int32)
        dataset.set("_FillValue", std::int32_t{-1});
    else
        dataset.set("_FillValue", std::int64_t{-1});
}

h5::Block element(int place) {
    return {{static_cast<std::uint64_t>(place)}, {1}};
}

// Rows [first, first + count) of one size's matrix.
h5::Block rows(std::uint64_t size, std::uint64_t first, std::uint64_t count, std::uint64_t ranks) {
    return {{size, first, 0}, {1, count, ranks}};
}

// Calls action for one part of a cube of matrices after the other, each in memory at once.
template <class Action>
void in_parts(const h5::Shape& shape, Action action) {
    constexpr std::uint64_t kPart = (16U << 20U) / sizeof(double); // as large as a chunk of a compressed file
    const std::uint64_t ranks = shape.at(2);
    const std::uint64_t step = std::clamp<std::uint64_t>(kPart / ranks, 1, ranks);
    for (std::uint64_t size = 0; size < shape.at(0); ++size)
        for (std::uint64_t first = 0; first < ranks; first += step)
            action(rows(size, first, std::min(step, ranks - first), ranks));
}

template <class T>
void fill(const h5::Dataset& dataset, T blank) {
    in_parts(dataset.shape(), [&](const h5::Block& part) {
        const std::vector<T> values(part.count[1] * part.count[2], blank);
        dataset.write(std::span<const T>(values), part);
    });
}

template <class T>
void copy(const h5::Dataset& from, const h5::Dataset& to) {
    in_parts(from.shape(), [&](const h5::Block& part) {
        const std::vector<T> values = from.read<T>(part);
        to.write(std::span<const T>(values), part);
    });
}

template <class T>
void fill_all(const h5::Dataset& dataset, T blank) {
    std::size_t count = 1;
    for (const std::uint64_t length : dataset.shape()) count *= length;
    const std::vector<T> values(count, blank);
    dataset.write(std::span<const T>(values));
}

} // namespace

// Where the cells of a step are.
struct PairGroup::Cells {
    h5::Elements places;
    std::vector<double> p50, min, gbps;
    std::vector<std::int32_t> ops;
};

PairGroup PairGroup::create(const h5::File& file, const Extents& extents, h5::Storage storage) {
    const h5::Group group = file.create_group("pairs");
    PairGroup pairs;
    for (const Bytes size : extents.pair_sizes) pairs.sizes_.push_back(static_cast<std::int64_t>(size));
    const h5::Dataset message_size = create_described(group, "message_size", Kind::int64, {pairs.sizes_.size()},
                                                      h5::Storage::contiguous, "B", "bytes of a message");
    message_size.write(std::span<const std::int64_t>(pairs.sizes_));
    message_size.make_scale("message_size");
    const h5::Dataset source = create_scale(group, "source", extents.ranks);
    const h5::Dataset destination = create_scale(group, "destination", extents.ranks);
    const h5::Dataset suspect = create_scale(group, "suspect", extents.suspects);
    const h5::Dataset attempt = create_scale(group, "isolated_attempt", extents.isolated_ops);

    const h5::Shape cube{pairs.sizes_.size(), extents.r(), extents.r()};
    const auto matrix = [&](const char* name, Kind kind, std::string_view units, std::string_view long_name) {
        h5::Dataset dataset = create_described(group, name, kind, cube, storage, units, long_name);
        attach_scales(dataset, {&message_size, &source, &destination});
        return dataset;
    };
    pairs.time_p50_ = matrix("time_p50", Kind::float64, "ns", "median transfer time from source to destination");
    pairs.time_min_ = matrix("time_min", Kind::float64, "ns", "shortest transfer time from source to destination");
    pairs.gbps_ = matrix("gbps", Kind::float64, "Gbit/s", "message size / median transfer time");
    pairs.ops_ = matrix("ops", Kind::int32, {}, "valid ops of the pair, 0 = not measured");

    const h5::Shape list{static_cast<std::uint64_t>(extents.suspects)};
    const auto listed = [&](const char* name, Kind kind, const h5::Shape& shape, std::string_view units,
                            std::string_view long_name) {
        h5::Dataset dataset = create_described(group, name, kind, shape, h5::Storage::contiguous, units, long_name);
        if (kind != Kind::float64) mark_unknown(dataset, kind);
        dataset.attach_scale(0, suspect);
        return dataset;
    };
    pairs.source_ = listed("suspect_source", Kind::int32, list, {}, "sender of a pair that was looked at again");
    pairs.destination_ = listed("suspect_destination", Kind::int32, list, {}, "its receiver");
    pairs.size_ = listed("suspect_size", Kind::int32, list, {}, "its message size, index into message_size");
    pairs.isolated_time_ =
        listed("isolated_time", Kind::int64, {list[0], static_cast<std::uint64_t>(extents.isolated_ops)}, "ns",
               "its transfer times with all other ranks idle");
    pairs.isolated_time_.attach_scale(1, attempt);
    pairs.isolated_gbps_ =
        listed("isolated_gbps", Kind::float64, list, "Gbit/s", "message size / median of isolated_time");

    fill(pairs.time_p50_, kAbsent);
    fill(pairs.time_min_, kAbsent);
    fill(pairs.gbps_, kAbsent);
    fill(pairs.ops_, std::int32_t{0});
    pairs.clear_isolated();
    return pairs;
}

PairGroup PairGroup::open(const h5::File& file) {
    const h5::Group group = file.open_group("pairs");
    PairGroup pairs;
    pairs.sizes_ = group.open_dataset("message_size").read<std::int64_t>();
    pairs.time_p50_ = group.open_dataset("time_p50");
    pairs.time_min_ = group.open_dataset("time_min");
    pairs.gbps_ = group.open_dataset("gbps");
    pairs.ops_ = group.open_dataset("ops");
    pairs.source_ = group.open_dataset("suspect_source");
    pairs.destination_ = group.open_dataset("suspect_destination");
    pairs.size_ = group.open_dataset("suspect_size");
    pairs.isolated_time_ = group.open_dataset("isolated_time");
    pairs.isolated_gbps_ = group.open_dataset("isolated_gbps");
    return pairs;
}

void PairGroup::describe(Extents& extents) const {
    extents.pair_sizes.assign(sizes_.begin(), sizes_.end());
    const h5::Shape shape = isolated_time_.shape();
    if (shape.size() != 2) isolated_time_.throw_unreadable("has not 2 dimensions");
    extents.suspects = static_cast<int>(shape.at(0));
    extents.isolated_ops = static_cast<int>(shape.at(1));
}

void PairGroup::require_shapes(const Extents& extents) const {
    for (const h5::Dataset* matrix : {&time_p50_, &time_min_, &gbps_, &ops_})
        matrix->require_shape({sizes_.size(), extents.r(), extents.r()});
    const auto suspects = static_cast<std::uint64_t>(extents.suspects);
    for (const h5::Dataset* list : {&source_, &destination_, &size_, &isolated_gbps_})
        list->require_shape({suspects});
    isolated_time_.require_shape({suspects, static_cast<std::uint64_t>(extents.isolated_ops)});
}

std::uint64_t PairGroup::index_of(Bytes message_size) const {
    const auto found = std::find(sizes_.begin(), sizes_.end(), static_cast<std::int64_t>(message_size));
    if (found == sizes_.end()) throw std::invalid_argument(fmt::format("/pairs: no size {}", message_size));
    return static_cast<std::uint64_t>(found - sizes_.begin());
}

PairGroup::Cells PairGroup::cells(Bytes message_size, std::span<const PairTime> pairs) const {
    const std::uint64_t size = index_of(message_size);
    Cells cells;
    for (const PairTime& pair : pairs) {
        for (const std::uint64_t index :
             {size, static_cast<std::uint64_t>(pair.source), static_cast<std::uint64_t>(pair.destination)})
            cells.places.coordinates.push_back(index);
        cells.p50.push_back(pair.p50);
        cells.min.push_back(pair.min);
        cells.gbps.push_back(pair_gbps(message_size, pair.p50));
        cells.ops.push_back(pair.ops);
    }
    return cells;
}

void PairGroup::write(Bytes message_size, std::span<const PairTime> pairs) const {
    const Cells there = cells(message_size, pairs);
    time_p50_.write(std::span<const double>(there.p50), there.places);
    time_min_.write(std::span<const double>(there.min), there.places);
    gbps_.write(std::span<const double>(there.gbps), there.places);
    ops_.write(std::span<const std::int32_t>(there.ops), there.places);
}

std::vector<PairTime> PairGroup::read(Bytes message_size, int distance) const {
    const int ranks = static_cast<int>(ops_.shape().at(1));
    std::vector<PairTime> pairs;
    for (Rank source = 0; source < ranks; ++source) pairs.push_back({source, (source + distance) % ranks});
    const h5::Elements places = cells(message_size, pairs).places;
    const auto p50 = time_p50_.read<double>(places);
    const auto min = time_min_.read<double>(places);
    const auto ops = ops_.read<std::int32_t>(places);
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        pairs[i].p50 = p50[i];
        pairs[i].min = min[i];
        pairs[i].ops = ops[i];
    }
    return pairs;
}

void PairGroup::clear_isolated() const {
    for (const h5::Dataset* dataset : {&source_, &destination_, &size_}) fill_all(*dataset, std::int32_t{-1});
    fill_all(isolated_time_, std::int64_t{-1});
    fill_all(isolated_gbps_, kAbsent);
}

void PairGroup::write_isolated(int place, const IsolatedPair& pair) const {
    const auto put = [&](const h5::Dataset& dataset, std::int32_t value) {
        dataset.write(std::span<const std::int32_t>(&value, 1), element(place));
    };
    isolated_time_.write(std::span<const Nanoseconds>(pair.times),
                         {{static_cast<std::uint64_t>(place), 0}, {1, pair.times.size()}});
    const double gbps = pair_gbps(pair.message_size, pair.p50);
    isolated_gbps_.write(std::span<const double>(&gbps, 1), element(place));
    put(destination_, pair.destination);
    put(size_, static_cast<std::int32_t>(index_of(pair.message_size)));
    put(source_, pair.source); // whoever sees it finds the rest
}

void PairGroup::copy_to(const PairGroup& to) const {
    copy<double>(time_p50_, to.time_p50_);
    copy<double>(time_min_, to.time_min_);
    copy<double>(gbps_, to.gbps_);
    copy<std::int32_t>(ops_, to.ops_);
    const h5::Shape shape = isolated_time_.shape();
    const h5::Block list{{0}, {shape.at(0)}};
    if (shape.at(0) == 0) return;
    const auto copy_list = [&]<class T>(const h5::Dataset& from, const h5::Dataset& into, T /*type*/) {
        const std::vector<T> values = from.read<T>(list);
        into.write(std::span<const T>(values), list);
    };
    copy_list(source_, to.source_, std::int32_t{});
    copy_list(destination_, to.destination_, std::int32_t{});
    copy_list(size_, to.size_, std::int32_t{});
    copy_list(isolated_gbps_, to.isolated_gbps_, double{});
    const h5::Block times{{0, 0}, shape};
    const std::vector<std::int64_t> values = isolated_time_.read<std::int64_t>(times);
    to.isolated_time_.write(std::span<const std::int64_t>(values), times);
}

std::uint64_t PairGroup::bytes(const Extents& extents) {
    constexpr std::uint64_t kPerCell = 3 * sizeof(double) + sizeof(std::int32_t);
    constexpr std::uint64_t kPerSuspect = 3 * sizeof(std::int32_t) + sizeof(double);
    return extents.pair_sizes.size() * extents.r() * extents.r() * kPerCell +
           static_cast<std::uint64_t>(extents.suspects) *
               (kPerSuspect + static_cast<std::uint64_t>(extents.isolated_ops) * sizeof(Nanoseconds));
}

} // namespace a2aperf
