// SPDX-License-Identifier: BSD-3-Clause
#include "declared_group.hpp"

#include <algorithm>
#include <stdexcept>
#include <type_traits>

#include <fmt/format.h>

#include "a2aperf/stats/summary.hpp"
#include "checksum.hpp"
#include "counted.hpp"
#include "crc32.hpp"
#include "describe.hpp"
#include "fixed_text.hpp"
#include "parts.hpp"
#include "scale.hpp"

namespace a2aperf {
namespace {

const GroupDimension& find_dimension(const GroupDeclaration& declaration, const std::string& name) {
    const auto found = std::find_if(declaration.dimensions.begin(), declaration.dimensions.end(),
                                    [&](const GroupDimension& dimension) { return dimension.name == name; });
    if (found == declaration.dimensions.end())
        throw std::invalid_argument(fmt::format("/{}: no dimension {}", declaration.name, name));
    return *found;
}

h5::Shape shape_of(const GroupDeclaration& declaration, const GroupColumn& column) {
    h5::Shape shape;
    for (const std::string& name : column.dimensions) shape.push_back(find_dimension(declaration, name).size());
    return shape;
}

h5::Dataset create_dimension(const h5::Group& group, const GroupDimension& dimension) {
    if (dimension.values.empty()) return create_scale(group, dimension.name.c_str(), dimension.length);
    h5::Dataset scale = group.create_dataset(dimension.name.c_str(), {h5::Kind::int64}, {dimension.values.size()});
    describe(scale, dimension.long_name, dimension.units);
    scale.write(std::span<const std::int64_t>(dimension.values));
    scale.make_scale(dimension.name.c_str());
    return scale;
}

// Takes on the length that the file has, where that may be another.
void fit(const h5::Group& group, GroupDimension& dimension) {
    const h5::Dataset scale = group.open_dataset(dimension.name.c_str());
    if (!dimension.may_grow) {
        scale.require_shape({dimension.size()});
        if (!dimension.values.empty() && scale.read<std::int64_t>() != dimension.values)
            scale.throw_unreadable("has other values than this launch");
        return;
    }
    constexpr std::uint64_t kMost = 1U << 24U; // no file of ours has more, whatever it says of itself
    const h5::Shape shape = scale.shape();
    if (shape.size() != 1 || shape[0] > kMost)
        scale.throw_unreadable(fmt::format("is not a list of at most {} values", kMost));
    dimension.length = static_cast<int>(shape[0]);
}

template <class T>
void fill(const h5::Dataset& dataset, T blank) {
    in_parts(whole(dataset.shape()), sizeof(T), [&](const h5::Block& part) {
        const std::vector<T> values(h5::elements(part.count), blank);
        dataset.write(std::span<const T>(values), part);
    });
}

template <class T>
void copy_values(const h5::Dataset& from, const h5::Dataset& to) {
    in_parts(whole(from.shape()), from.element_bytes(), [&](const h5::Block& part) {
        const std::vector<T> values = from.read<T>(part);
        to.write(std::span<const T>(values), part);
    });
}

// Nothing as NaN.
void copy_counted(const h5::Dataset& from, const h5::Dataset& counts, const h5::Dataset& to) {
    in_parts(whole(from.shape()), sizeof(double), [&](const h5::Block& part) {
        std::vector<double> values = from.read<double>(part);
        blank_uncounted(values, counts.read<std::int64_t>(part));
        to.write(std::span<const double>(values), part);
    });
}

bool is_text(ValueType type) {
    return type == ValueType::text || type == ValueType::fixed_text;
}

void fill_texts(const h5::Dataset& dataset) {
    in_parts(whole(dataset.shape()), kFixedTextBytes, [&](const h5::Block& part) {
        const std::vector<char> blank(h5::elements(part.count) * kFixedTextBytes);
        dataset.write_fixed(blank, part);
    });
}

void copy_texts(const h5::Dataset& from, const h5::Dataset& to) {
    in_parts(whole(from.shape()), kFixedTextBytes,
             [&](const h5::Block& part) { to.write_fixed(from.read_fixed(kFixedTextBytes, part), part); });
}

// Zeros without being written, which is as good as blank: nothing so large was in a new file before, so that no
// space of it was in use.
bool is_hole(const h5::Dataset& dataset, const GroupColumn& column) {
    constexpr std::uint64_t kLarge = 16U << 20U;
    const bool is_zero = column.type != ValueType::float64 && !is_text(column.type) && !column.has_unknown;
    if (!is_zero && column.counted_by.empty()) return false;
    return h5::elements(dataset.shape()) * dataset.element_bytes() >= kLarge;
}

std::vector<char> bytes_of(double value) {
    const char* const begin = reinterpret_cast<const char*>(&value);
    return {begin, begin + sizeof value};
}

// Of one element that has not been written.
std::vector<char> blank_of(const h5::Dataset& dataset, const GroupColumn& column) {
    if (column.type == ValueType::float64) return bytes_of(kAbsent);
    const bool is_unknown = !is_text(column.type) && column.has_unknown;
    return std::vector<char>(dataset.element_bytes(), static_cast<char>(is_unknown ? -1 : 0));
}

// As the checksum has them: NaN where there is nothing.
std::vector<char> counted_cells(const h5::Dataset& values, const h5::Dataset& counts, const h5::Elements& places) {
    const std::vector<std::int64_t> counted = counts.read<std::int64_t>(places);
    std::vector<double> cells(counted.size(), kAbsent);
    if (std::any_of(counted.begin(), counted.end(), [](std::int64_t count) { return count != 0; })) {
        cells = values.read<double>(places);
        blank_uncounted(cells, counted);
    }
    const char* const begin = reinterpret_cast<const char*>(cells.data());
    return {begin, begin + cells.size() * sizeof(double)};
}

// One at a time: they are few.
void write_texts(const h5::Dataset& to, const std::vector<std::uint64_t>& places,
                 const std::vector<std::string>& texts) {
    const std::size_t axes = to.shape().size();
    for (std::size_t i = 0; i < texts.size(); ++i) {
        const auto first = places.begin() + static_cast<std::ptrdiff_t>(i * axes);
        to.write_fixed(fixed({texts[i]}), {{first, first + static_cast<std::ptrdiff_t>(axes)}, h5::Shape(axes, 1)});
    }
}

} // namespace

DeclaredGroup DeclaredGroup::create(const h5::File& file, GroupDeclaration declaration, h5::Storage storage) {
    DeclaredGroup created(std::move(declaration));
    h5::Group group = file.create_group(created.declaration_.name.c_str());
    std::map<std::string, h5::Dataset> scales;
    for (const GroupDimension& dimension : created.declaration_.dimensions)
        scales.emplace(dimension.name, create_dimension(group, dimension));
    for (const GroupColumn& column : created.declaration_.columns) {
        h5::Dataset dataset = group.create_dataset(column.name.c_str(), {column.type, kFixedTextBytes},
                                                   shape_of(created.declaration_, column),
                                                   column.is_compressed ? storage : h5::Storage::contiguous);
        describe(dataset, column.long_name, column.units, column.better);
        if (column.has_unknown) mark_unknown(dataset, column.type);
        if (!column.counted_by.empty()) dataset.set(kCountedBy, std::string_view(column.counted_by));
        unsigned axis = 0;
        for (const std::string& name : column.dimensions) dataset.attach_scale(axis++, scales.at(name));
        created.datasets_.emplace(column.name, std::move(dataset));
    }
    for (const GroupColumn& column : created.declaration_.columns)
        if (!is_hole(created.dataset(column.name), column)) created.clear(column);
    created.checksum_ = group.create_dataset("checksum", {ValueType::int64}, {});
    describe(created.checksum_, "CRC-32 of all other datasets here");
    mark_unknown(created.checksum_, ValueType::int64);
    created.group_ = std::move(group);
    created.seal_blank();
    return created;
}

DeclaredGroup DeclaredGroup::open(const h5::File& file, GroupDeclaration declaration) {
    DeclaredGroup opened(std::move(declaration));
    h5::Group group = file.open_group(opened.declaration_.name.c_str());
    for (GroupDimension& dimension : opened.declaration_.dimensions) fit(group, dimension);
    for (const GroupColumn& column : opened.declaration_.columns) {
        if (column.is_late && !group.has(column.name.c_str())) continue;
        h5::Dataset dataset = group.open_dataset(column.name.c_str());
        dataset.require_shape(shape_of(opened.declaration_, column));
        opened.datasets_.emplace(column.name, std::move(dataset));
    }
    if (group.has("checksum")) opened.checksum_ = group.open_dataset("checksum");
    opened.group_ = std::move(group);
    return opened;
}

const h5::Dataset& DeclaredGroup::dataset(const std::string& column) const {
    const auto found = datasets_.find(column);
    if (found == datasets_.end())
        throw std::invalid_argument(fmt::format("/{}: no column {}", declaration_.name, column));
    return found->second;
}

std::vector<char> DeclaredGroup::cells(const GroupColumn& column, const h5::Elements& places) const {
    if (column.counted_by.empty()) return dataset(column.name).stored(places);
    return counted_cells(dataset(column.name), dataset(column.counted_by), places);
}

void DeclaredGroup::put(const GroupCells& cells) const {
    const h5::Dataset& to = dataset(cells.column);
    const std::size_t count = std::visit([](const auto& values) { return values.size(); }, cells.values);
    if (cells.places.size() != count * to.shape().size())
        throw std::invalid_argument(
            fmt::format("/{}/{}: places of another length", declaration_.name, cells.column));
    const h5::Elements there{cells.places};
    const auto is_touched = [&](const GroupColumn& column) {
        return column.name == cells.column || column.counted_by == cells.column;
    };
    std::map<std::string, std::vector<char>> before;
    if (running_)
        for (const GroupColumn& column : declaration_.columns)
            if (is_touched(column)) before[column.name] = this->cells(column, there);
    std::visit(
        [&]<class T>(const std::vector<T>& values) {
            if constexpr (std::is_same_v<T, std::string>)
                write_texts(to, cells.places, values);
            else
                to.write(std::span<const T>(values), there);
        },
        cells.values);
    if (!running_) return;
    for (const GroupColumn& column : declaration_.columns)
        if (is_touched(column))
            running_->change(column.name, cells.places, before.at(column.name), this->cells(column, there));
}

void DeclaredGroup::write_all(const std::function<void(const PutCells& put)>& cells) const {
    change([&] { cells([&](const GroupCells& some) { put(some); }); });
}

void DeclaredGroup::write_point(const Point& point, const PointResult& result) const {
    if (!declaration_.of_point) return;
    change([&] {
        for (const GroupCells& cells : declaration_.of_point(point, result)) put(cells);
    });
}

// Where so much changes that all of it is read for its checksum.
void DeclaredGroup::remake(const std::function<void()>& what) const {
    change([&] {
        running_.reset();
        what();
    });
}

// It has no checksum meanwhile; after a failure nobody knows what is there.
void DeclaredGroup::change(const std::function<void()>& what) const {
    if (const std::int64_t there = running_ ? kNoChecksum : checksum(); there != kNoChecksum)
        running_ = std::make_unique<RunningChecksum>(group_, there);
    checksum_.write(std::span(&kNoChecksum, 1));
    try {
        what();
    } catch (...) {
        running_.reset();
        throw;
    }
    if (!running_) return seal();
    const std::int64_t checksum = running_->value();
    checksum_.write(std::span(&checksum, 1));
}

std::vector<double> DeclaredGroup::read(const std::string& column, const std::vector<std::uint64_t>& places) const {
    return dataset(column).read<double>(h5::Elements{places});
}

std::vector<std::string> DeclaredGroup::read_texts(const std::string& column) const {
    return texts_of(dataset(column).read_fixed(kFixedTextBytes, {}));
}

void DeclaredGroup::clear(const std::string& column) const {
    const h5::Dataset& all = dataset(column);
    const auto& columns = declaration_.columns;
    const auto is_it = [&](const GroupColumn& one) { return one.name == column; };
    const GroupColumn& cleared = *std::find_if(columns.begin(), columns.end(), is_it);
    const bool is_by_itself =
        cleared.type != ValueType::text && cleared.counted_by.empty() &&
        std::none_of(columns.begin(), columns.end(), [&](const auto& one) { return one.counted_by == column; });
    if (!is_by_itself) return remake([&] { clear(cleared); });
    change([&] {
        const std::vector<char> before = all.stored(whole(all.shape()));
        clear(cleared);
        if (running_) running_->change_all(column, before, all.stored(whole(all.shape())));
    });
}

void DeclaredGroup::clear(const GroupColumn& column) const {
    if (column.type == ValueType::text)
        dataset(column.name).write_text(column.texts);
    else if (column.type == ValueType::fixed_text)
        fill_texts(dataset(column.name));
    else if (column.type == ValueType::float64)
        fill(dataset(column.name), kAbsent);
    else
        fill(dataset(column.name), std::int64_t{column.has_unknown ? -1 : 0});
}

void DeclaredGroup::seal() const {
    seal(checksum_of(group_));
}

void DeclaredGroup::seal_blank() const {
    std::map<std::string, std::vector<char>> blanks;
    for (const GroupColumn& column : declaration_.columns)
        if (column.type != ValueType::text) blanks[column.name] = blank_of(dataset(column.name), column);
    seal(checksum_of(group_, blanks));
}

void DeclaredGroup::seal(const std::int64_t checksum) const {
    running_ = std::make_unique<RunningChecksum>(group_, checksum);
    checksum_.write(std::span(&checksum, 1));
}

std::int64_t DeclaredGroup::checksum() const {
    return checksum_.is_open() ? checksum_.read<std::int64_t>().at(0) : kNoChecksum;
}

bool DeclaredGroup::is_sound() const {
    try {
        return !checksum_.is_open() || checksum() == checksum_of(group_);
    } catch (const h5::Unreadable&) {
        return false;
    }
}

void DeclaredGroup::copy_to(const DeclaredGroup& to) const {
    to.remake([&] {
        for (const GroupColumn& column : declaration_.columns) copy(column, to);
    });
}

void DeclaredGroup::copy_texts_to(const DeclaredGroup& to) const {
    const auto is_fixed = [](const GroupColumn& column) { return column.type == ValueType::fixed_text; };
    const auto& columns = declaration_.columns;
    if (std::none_of(columns.begin(), columns.end(), is_fixed)) return;
    to.remake([&] {
        for (const GroupColumn& column : columns)
            if (is_fixed(column)) copy(column, to);
    });
}

void DeclaredGroup::copy(const GroupColumn& column, const DeclaredGroup& to) const {
    if (column.is_late && !datasets_.contains(column.name)) return; // of an older program: blank there
    const h5::Dataset& here = dataset(column.name);
    const h5::Dataset& there = to.dataset(column.name);
    if (column.type == ValueType::text) return; // known beforehand
    if (column.type == ValueType::fixed_text)
        copy_texts(here, there);
    else if (!column.counted_by.empty())
        copy_counted(here, dataset(column.counted_by), there);
    else if (column.type == ValueType::float64)
        copy_values<double>(here, there);
    else
        copy_values<std::int64_t>(here, there);
}

std::uint64_t bytes_of(const GroupDeclaration& declaration) {
    std::uint64_t bytes = 0;
    for (const GroupColumn& column : declaration.columns)
        bytes += h5::elements(shape_of(declaration, column)) *
                 (is_text(column.type) ? kFixedTextBytes : bytes_of(column.type));
    return bytes;
}

GroupDeclaration with_room_for(GroupDeclaration declaration, const GroupDeclaration& other) {
    for (GroupDimension& dimension : declaration.dimensions)
        if (dimension.may_grow)
            dimension.length = std::max(dimension.length, find_dimension(other, dimension.name).length);
    return declaration;
}

} // namespace a2aperf
