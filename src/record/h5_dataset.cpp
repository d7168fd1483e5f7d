// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <hdf5_hl.h>

#include "a2aperf/base/utf8.hpp"
#include "h5_calls.hpp"

namespace a2aperf::h5 {
namespace {

hid_t native(Kind kind) {
    switch (kind) {
    case Kind::int8:
        return H5T_NATIVE_INT8;
    case Kind::int32:
        return H5T_NATIVE_INT32;
    case Kind::int64:
        return H5T_NATIVE_INT64;
    default:
        return H5T_NATIVE_DOUBLE;
    }
}

// Of a dataset that is read as one. No file of ours has more, whatever it says of itself.
std::uint64_t all_elements(const Dataset& dataset) {
    constexpr std::uint64_t kMostElements = 1U << 24U;
    std::uint64_t count = 1;
    for (const std::uint64_t extent : dataset.shape()) {
        if (extent > kMostElements || count * extent > kMostElements)
            dataset.throw_unreadable(fmt::format("has more than {} elements", kMostElements));
        count *= extent;
    }
    return count;
}

// As the block, so that HDF5 need not look for each element by itself; of another length it says so.
Handle space_in_memory(const Block& block, std::size_t count) {
    return space_of(!block.count.empty() && elements(block.count) == count ? block.count : Shape{count});
}

} // namespace

Shape Dataset::shape() const {
    const Handle space(check_read(H5Dget_space(id()), "read the shape of", *this));
    std::vector<hsize_t> shape(static_cast<std::size_t>(H5Sget_simple_extent_ndims(space.id())));
    H5Sget_simple_extent_dims(space.id(), shape.data(), nullptr);
    return {shape.begin(), shape.end()};
}

void Dataset::require_shape(const Shape& wanted) const {
    if (shape() == wanted) return;
    throw_unreadable(fmt::format("is not of shape {}", fmt::join(wanted, " x ")));
}

std::uint64_t Dataset::stored_bytes() const {
    return H5Dget_storage_size(id());
}

std::size_t Dataset::count_of(const Block& block) const {
    return block.count.empty() ? all_elements(*this) : elements(block.count);
}

std::size_t Dataset::count_of(const Elements& elements) const {
    return elements.coordinates.size() / shape().size();
}

void Dataset::write_numbers(Kind kind, const void* values, std::size_t count, const Block& block) const {
    if (count == 0) return;
    const Handle in_file = space_of_block(*this, id(), block);
    const Handle in_memory = space_in_memory(block, count);
    check(H5Dwrite(id(), native(kind), in_memory.id(), in_file.id(), transfer_of(count), values), "write", *this);
}

void Dataset::write_numbers(Kind kind, const void* values, std::size_t count, const Elements& elements) const {
    if (count == 0) return;
    const Handle in_file = space_of_elements(*this, id(), elements, count);
    const Handle in_memory = space_of({count});
    check(H5Dwrite(id(), native(kind), in_memory.id(), in_file.id(), transfer_of(count), values), "write", *this);
}

void Dataset::read_numbers(Kind kind, void* values, std::size_t count, const Block& block) const {
    if (count == 0) return;
    const Handle in_file = space_of_block(*this, id(), block);
    const Handle in_memory = space_in_memory(block, count);
    check_read(H5Dread(id(), native(kind), in_memory.id(), in_file.id(), transfer_of(count), values), "read",
               *this);
}

void Dataset::read_numbers(Kind kind, void* values, std::size_t count, const Elements& elements) const {
    if (count == 0) return;
    const Handle in_file = space_of_elements(*this, id(), elements, count);
    const Handle in_memory = space_of({count});
    check_read(H5Dread(id(), native(kind), in_memory.id(), in_file.id(), transfer_of(count), values), "read",
               *this);
}

void Dataset::write_text(const std::vector<std::string>& values) const {
    if (values.empty()) return;
    std::vector<std::string> valid(values.size());
    std::transform(values.begin(), values.end(), valid.begin(), valid_utf8);
    std::vector<const char*> pointers(values.size());
    std::transform(valid.begin(), valid.end(), pointers.begin(), [](const auto& text) { return text.c_str(); });
    const Handle type = text_type(H5T_VARIABLE);
    check(H5Dwrite(id(), type.id(), H5S_ALL, H5S_ALL, transfer_of(pointers.size()),
                   static_cast<const void*>(pointers.data())),
          "write", *this);
}

std::vector<std::string> Dataset::read_text() const {
    std::vector<char*> pointers(all_elements(*this));
    if (pointers.empty()) return {};
    const Handle type = text_type(H5T_VARIABLE);
    check_read(H5Dread(id(), type.id(), H5S_ALL, H5S_ALL, transfer_of(pointers.size()),
                       static_cast<void*>(pointers.data())),
               "read", *this);
    std::vector<std::string> values;
    values.reserve(pointers.size());
    for (char* text : pointers) {
        values.emplace_back(text != nullptr ? text : "");
        H5free_memory(text);
    }
    return values;
}

void Dataset::write_fixed(std::span<const char> bytes, const Block& block) const {
    if (bytes.empty()) return;
    const Handle type(H5Dget_type(id()));
    const Handle in_file = space_of_block(*this, id(), block);
    const Handle in_memory = space_in_memory(block, bytes.size() / H5Tget_size(type.id()));
    check(H5Dwrite(id(), type.id(), in_memory.id(), in_file.id(), H5P_DEFAULT, bytes.data()), "write", *this);
}

std::vector<char> Dataset::read_fixed(std::size_t length, const Block& block) const {
    const Handle type(H5Dget_type(id()));
    if (H5Tget_class(type.id()) != H5T_STRING || H5Tis_variable_str(type.id()) > 0 ||
        H5Tget_size(type.id()) != length)
        throw_unreadable(fmt::format("has no texts of {} bytes", length));
    const std::uint64_t count = block.count.empty() ? all_elements(*this) : elements(block.count);
    std::vector<char> bytes(count * length);
    if (bytes.empty()) return bytes;
    const Handle in_file = space_of_block(*this, id(), block);
    const Handle in_memory = space_in_memory(block, count);
    check_read(H5Dread(id(), type.id(), in_memory.id(), in_file.id(), H5P_DEFAULT, bytes.data()), "read", *this);
    return bytes;
}

void Dataset::make_scale(const char* dimension) const {
    check(H5DSset_scale(id(), dimension), "make a dimension scale of", *this);
}

void Dataset::attach_scale(unsigned axis, const Dataset& scale) const {
    check(H5DSattach_scale(id(), scale.id(), axis), "attach a dimension scale to", *this);
}

} // namespace a2aperf::h5
