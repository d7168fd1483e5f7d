// SPDX-License-Identifier: BSD-3-Clause
#include "h5_calls.hpp"

#include <charconv>
#include <string_view>

namespace a2aperf::h5 {
namespace {

class Category : public std::error_category {
public:
    const char* name() const noexcept override { return "HDF5"; }
    std::string message(int value) const override { return std::generic_category().message(value); }
    std::error_condition default_error_condition(int value) const noexcept override {
        return std::generic_category().default_error_condition(value);
    }
};

// The file driver says "file write failed: time = …, errno = 28, error message = 'No space left on device', buf =
// …".
Cause parse_cause(std::string_view description) {
    constexpr std::string_view kErrno = "errno = ";
    Cause cause{std::string(description)};
    const std::size_t at = description.find(kErrno);
    if (at == std::string_view::npos) return cause;
    const std::string_view number = description.substr(at + kErrno.size());
    std::from_chars(number.data(), number.data() + number.size(), cause.error);
    cause.words = description.substr(0, description.find(':'));
    return cause;
}

herr_t take_innermost(unsigned, const H5E_error2_t* entry, void* cause) {
    *static_cast<Cause*>(cause) = parse_cause(entry->desc != nullptr ? entry->desc : "no reason given");
    return 1; // stop after the first
}

} // namespace

const std::error_category& hdf5_category() {
    static const Category category;
    return category;
}

Cause last_cause() {
    Cause cause{"no reason given"};
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_innermost, &cause);
    return cause;
}

void fail(const std::string& what, const Cause& cause) {
    throw std::system_error(cause.error, hdf5_category(), fmt::format("{} ({})", what, cause.words));
}

void fail_to_read(const std::string& what, const Cause& cause) {
    if (cause.error != EIO) fail(what, cause);
    throw Unreadable(cause.error, hdf5_category(), fmt::format("{} ({})", what, cause.words));
}

void fail_reading(const std::string& what) {
    fail_to_read(what, last_cause());
}

Handle space_of(const Shape& shape) {
    if (shape.empty()) return Handle(H5Screate(H5S_SCALAR));
    return Handle(H5Screate_simple(static_cast<int>(shape.size()), sizes(shape).data(), nullptr));
}

Handle space_of_block(const Dataset& dataset, hid_t id, const Block& block) {
    Handle space(check_read(H5Dget_space(id), "read the shape of", dataset));
    if (block.count.empty()) return space;
    if (H5Sget_simple_extent_ndims(space.id()) != static_cast<int>(block.count.size()))
        dataset.throw_unreadable(fmt::format("has not {} dimensions", block.count.size()));
    check_read(H5Sselect_hyperslab(space.id(), H5S_SELECT_SET, sizes(block.offset).data(), nullptr,
                                   sizes(block.count).data(), nullptr),
               "select a part of", dataset);
    return space;
}

Handle space_of_elements(const Dataset& dataset, hid_t id, const Elements& elements, std::size_t count) {
    Handle space(check(H5Dget_space(id), "read the shape of", dataset));
    check(H5Sselect_elements(space.id(), H5S_SELECT_SET, count, sizes(elements.coordinates).data()),
          "select elements of", dataset);
    return space;
}

Handle text_type(std::size_t length) {
    Handle type(H5Tcopy(H5T_C_S1));
    H5Tset_size(type.id(), length);
    H5Tset_cset(type.id(), H5T_CSET_UTF8);
    H5Tset_strpad(type.id(), length == H5T_VARIABLE ? H5T_STR_NULLTERM : H5T_STR_NULLPAD);
    return type;
}

hid_t transfer_of(std::size_t count) {
    constexpr std::size_t kBytes = 4096;
    constexpr std::size_t kBytesOfOne =
        16; // a text's: its length, the address of a heap in the file, a place in it
    if (count > kBytes / kBytesOfOne) return H5P_DEFAULT;
    static const hid_t transfer = [] {
        const hid_t made = H5Pcreate(H5P_DATASET_XFER);
        return made >= 0 && H5Pset_buffer(made, kBytes, nullptr, nullptr) >= 0 ? made : H5P_DEFAULT;
    }();
    return transfer;
}

} // namespace a2aperf::h5
