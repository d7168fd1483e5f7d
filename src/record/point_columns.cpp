// SPDX-License-Identifier: BSD-3-Clause
#include "point_columns.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "checksum.hpp"
#include "crc32.hpp"
#include "describe.hpp"
#include "fixed_text.hpp"
#include "scale.hpp"

namespace a2aperf {
namespace {

using h5::Kind;

void describe_column(const h5::Dataset& dataset, const Column& column) {
    describe(dataset, column.long_name, column.units, column.better);
    if (!column.flags.empty()) {
        std::vector<std::int8_t> values(column.flags.size());
        std::iota(values.begin(), values.end(), std::int8_t{0});
        dataset.set("flag_values", std::span<const std::int8_t>(values));
        std::string meanings(column.flags.front());
        for (const std::string_view flag : std::span(column.flags).subspan(1)) meanings.append(" ").append(flag);
        dataset.set("flag_meanings", meanings);
    }
    if (column.has_unknown) mark_unknown(dataset, column.kind);
}

template <class T>
std::vector<T> unwrap(const std::vector<Value>& values) {
    std::vector<T> plain(values.size());
    std::transform(values.begin(), values.end(), plain.begin(), [](const Value& v) { return std::get<T>(v); });
    return plain;
}

template <class T>
std::vector<Value> wrap(const std::vector<T>& plain) {
    return {plain.begin(), plain.end()};
}

h5::Block element(int point) {
    return {{static_cast<std::uint64_t>(point)}, {1}};
}

} // namespace

PointColumns PointColumns::create(const h5::File& file, const h5::Dataset& point_scale, const Schema& schema) {
    PointColumns created;
    created.columns_ = schema.columns;
    created.points_ = static_cast<int>(point_scale.shape().at(0));
    for (const Column& column : schema.columns) {
        const std::string name(column.name);
        h5::Dataset dataset =
            file.create_dataset(name.c_str(), {column.kind, kFixedTextBytes}, point_scale.shape());
        describe_column(dataset, column);
        attach_scales(dataset, {&point_scale});
        created.datasets_.push_back(std::move(dataset));
        created.write(created.datasets_.size() - 1,
                      std::vector<Value>(static_cast<std::size_t>(created.points_), column.blank()));
    }
    created.checksum_ = file.create_dataset("checksum", {Kind::int64}, point_scale.shape());
    describe(created.checksum_, "CRC-32 of all that the file holds of the point");
    mark_unknown(created.checksum_, Kind::int64);
    attach_scales(created.checksum_, {&point_scale});
    created.checksum_.write(std::span<const std::int64_t>(
        std::vector<std::int64_t>(static_cast<std::size_t>(created.points_), kNoChecksum)));
    return created;
}

PointColumns PointColumns::open(const h5::File& file, int points, const Schema& schema) {
    PointColumns opened;
    opened.columns_ = schema.columns;
    opened.points_ = points;
    for (const Column& column : schema.columns) {
        const std::string name(column.name);
        opened.datasets_.push_back(file.has(name.c_str()) ? file.open_dataset(name.c_str()) : h5::Dataset());
    }
    if (file.has("checksum")) opened.checksum_ = file.open_dataset("checksum");
    return opened;
}

void PointColumns::require_shapes() const {
    for (const h5::Dataset& dataset : datasets_)
        if (dataset.is_open()) dataset.require_shape({static_cast<std::uint64_t>(points_)});
    if (checksum_.is_open()) checksum_.require_shape({static_cast<std::uint64_t>(points_)});
}

void PointColumns::write_asked(const std::vector<Point>& points, const Layout& layout,
                               const std::string& provider) const {
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        if (!columns_[i].is_asked()) continue;
        std::vector<Value> values;
        for (const Point& point : points) values.push_back(columns_[i].asked({point, layout, provider}));
        write(i, values);
        // Of texts the digest has one. It is with the metadata: an attribute.
        if (columns_[i].kind != Kind::text) datasets_[i].set(kChecksumAttribute, checksum_of(datasets_[i]));
    }
    for (std::size_t p = 0; p < points.size(); ++p)
        if (points[p].is_skipped()) write_state(static_cast<int>(p), State::skipped);
}

std::vector<std::string> PointColumns::damaged_asked() const {
    std::vector<std::string> damaged;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        const h5::Dataset& dataset = datasets_[i];
        if (!columns_[i].is_asked() || !dataset.is_open() || !dataset.has_attribute(kChecksumAttribute)) continue;
        if (dataset.integer_attribute(kChecksumAttribute) != checksum_of(dataset))
            damaged.emplace_back(columns_[i].name);
    }
    return damaged;
}

bool PointColumns::says(const Column& column) const {
    const auto found =
        std::find_if(columns_.begin(), columns_.end(), [&](const Column& one) { return one.name == column.name; });
    return column.before || datasets_[static_cast<std::size_t>(found - columns_.begin())].is_open();
}

std::vector<Value> PointColumns::read(std::size_t column) const {
    const Column& description = columns_[column];
    const h5::Dataset& dataset = datasets_[column];
    if (!dataset.is_open())
        return std::vector<Value>(static_cast<std::size_t>(points_),
                                  description.before.value_or(description.blank()));
    if (description.kind == Kind::text) return wrap(dataset.read_text());
    if (description.kind == Kind::fixed_text) return wrap(texts_of(dataset.read_fixed(kFixedTextBytes, {})));
    if (description.kind == Kind::float64) return wrap(dataset.read<double>());
    return wrap(dataset.read<std::int64_t>());
}

std::vector<Value> PointColumns::read(std::string_view name) const {
    const auto found =
        std::find_if(columns_.begin(), columns_.end(), [&](const Column& c) { return c.name == name; });
    return read(static_cast<std::size_t>(found - columns_.begin()));
}

void PointColumns::write(std::size_t column, const std::vector<Value>& values) const {
    const h5::Dataset& dataset = datasets_[column];
    switch (columns_[column].kind) {
    case Kind::text:
        dataset.write_text(unwrap<std::string>(values));
        break;
    case Kind::fixed_text:
        dataset.write_fixed(fixed(unwrap<std::string>(values)), {{0}, {values.size()}});
        break;
    case Kind::float64:
        dataset.write(std::span<const double>(unwrap<double>(values)));
        break;
    default:
        dataset.write(std::span<const std::int64_t>(unwrap<std::int64_t>(values)));
    }
}

void PointColumns::write(int point, const PointResult& result, const FilePosition& place) const {
    for (std::size_t i = 0; i < datasets_.size(); ++i) {
        const Column& column = columns_[i];
        if (column.place) {
            const std::int64_t value = column.place(place);
            datasets_[i].write(std::span(&value, 1), element(point));
        } else if (column.outcome) {
            const auto write_one = [&](const auto& value) {
                if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::string>)
                    datasets_[i].write_fixed(fixed({value}), element(point));
                else
                    datasets_[i].write(std::span(&value, 1), element(point));
            };
            std::visit(write_one, column.outcome(result));
        }
    }
}

PointResult PointColumns::read(int point) const {
    PointResult result{};
    for (std::size_t i = 0; i < datasets_.size(); ++i) {
        const Column& column = columns_[i];
        if (!column.restore) continue;
        if (!datasets_[i].is_open())
            column.restore(result, column.blank());
        else if (column.kind == Kind::fixed_text)
            column.restore(result, texts_of(datasets_[i].read_fixed(kFixedTextBytes, element(point))).front());
        else if (column.kind == Kind::float64)
            column.restore(result, datasets_[i].read<double>(element(point)).front());
        else
            column.restore(result, datasets_[i].read<std::int64_t>(element(point)).front());
    }
    return result;
}

void PointColumns::write_state(int point, State state) const {
    const auto value = static_cast<std::int8_t>(state);
    datasets_.back().write(std::span(&value, 1), element(point));
}

std::vector<State> PointColumns::states() const {
    const std::vector<std::int8_t> values = datasets_.back().read<std::int8_t>();
    std::vector<State> states(values.size());
    std::transform(values.begin(), values.end(), states.begin(),
                   [](std::int8_t v) { return static_cast<State>(v); });
    return states;
}

void PointColumns::write_checksum(int point, std::int64_t checksum) const {
    checksum_.write(std::span(&std::as_const(checksum), 1), element(point));
}

std::vector<std::int64_t> PointColumns::checksums() const {
    if (!checksum_.is_open()) return std::vector<std::int64_t>(static_cast<std::size_t>(points_), kNoChecksum);
    return checksum_.read<std::int64_t>();
}

} // namespace a2aperf
