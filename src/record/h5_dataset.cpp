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

template <class T>
hid_t native();
template <>
hid_t native<std::int8_t>() {
    return H5T_NATIVE_INT8;
}
template <>
hid_t native<std::int32_t>() {
    return H5T_NATIVE_INT32;
}
template <>
hid_t native<std::int64_t>() {
    return H5T_NATIVE_INT64;
}
template <>
hid_t native<double>() {
    return H5T_NATIVE_DOUBLE;
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

template <class T>
void Dataset::write(std::span<const T> values) const {
    write(values, Block{});
}

template <class T>
void Dataset::write(std::span<const T> values, const Block& block) const {
    if (values.empty()) return;
    const Handle in_file = space_of_block(*this, id(), block);
    const Handle in_memory = space_in_memory(block, values.size());
    check(H5Dwrite(id(), native<T>(), in_memory.id(), in_file.id(), transfer_of(values.size()), values.data()),
          "write", *this);
}

template <class T>
void Dataset::write(std::span<const T> values, const Elements& elements) const {
    if (values.empty()) return;
    const Handle in_file = space_of_elements(*this, id(), elements, values.size());
    const Handle in_memory = space_of({values.size()});
    check(H5Dwrite(id(), native<T>(), in_memory.id(), in_file.id(), transfer_of(values.size()), values.data()),
          "write", *this);
}

template <class T>
std::vector<T> Dataset::read(const Elements& elements) const {
    std::vector<T> values(elements.coordinates.size() / shape().size());
    if (values.empty()) return values;
    const Handle in_file = space_of_elements(*this, id(), elements, values.size());
    const Handle in_memory = space_of({values.size()});
    check_read(H5Dread(id(), native<T>(), in_memory.id(), in_file.id(), transfer_of(values.size()), values.data()),
               "read", *this);
    return values;
}

template <class T>
std::vector<T> Dataset::read() const {
    return read<T>(Block{});
}

template <class T>
std::vector<T> Dataset::read(const Block& block) const {
    std::vector<T> values(block.count.empty() ? all_elements(*this) : elements(block.count));
    if (values.empty()) return values;
    const Handle in_file = space_of_block(*this, id(), block);
    const Handle in_memory = space_in_memory(block, values.size());
    check_read(H5Dread(id(), native<T>(), in_memory.id(), in_file.id(), transfer_of(values.size()), values.data()),
               "read", *this);
    return values;
}

// What the file is made of; other types are not offered.
template void Dataset::write(std::span<const std::int8_t>) const;
template void Dataset::write(std::span<const std::int32_t>) const;
template void Dataset::write(std::span<const std::int64_t>) const;
template void Dataset::write(std::span<const double>) const;
template void Dataset::write(std::span<const std::int8_t>, const Block&) const;
template void Dataset::write(std::span<const std::int32_t>, const Block&) const;
template void Dataset::write(std::span<const std::int64_t>, const Block&) const;
template void Dataset::write(std::span<const double>, const Block&) const;
template void Dataset::write(std::span<const std::int64_t>, const Elements&) const;
template void Dataset::write(std::span<const double>, const Elements&) const;
template std::vector<std::int64_t> Dataset::read(const Elements&) const;
template std::vector<double> Dataset::read(const Elements&) const;
template std::vector<std::int8_t> Dataset::read() const;
template std::vector<std::int32_t> Dataset::read() const;
template std::vector<std::int64_t> Dataset::read() const;
template std::vector<double> Dataset::read() const;
template std::vector<std::int8_t> Dataset::read(const Block&) const;
template std::vector<std::int32_t> Dataset::read(const Block&) const;
template std::vector<std::int64_t> Dataset::read(const Block&) const;
template std::vector<double> Dataset::read(const Block&) const;

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
