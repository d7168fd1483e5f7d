// SPDX-License-Identifier: BSD-3-Clause
// What the h5*.cpp share of calling HDF5: what a call that failed throws, and how shapes and texts are told to it.
#pragma once

#include <hdf5.h>

#include <cerrno>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "h5.hpp"

namespace a2aperf::h5 {

static_assert(sizeof(hid_t) == sizeof(std::int64_t));

struct Cause {
    std::string words; // of the innermost function that failed
    int error = EIO;
};

// Of the call that just failed: the next call of any kind clears it.
Cause last_cause();

[[noreturn]] void fail(const std::string& what, const Cause& cause);
// An errno is the disk's word; without one, the file is not what it should be.
[[noreturn]] void fail_to_read(const std::string& what, const Cause& cause);

template <class Result>
Result check(Result result, const char* verb, const Object& object, const char* name = "") {
    if (result >= 0) return result;
    const Cause cause = last_cause();
    fail(fmt::format("cannot {} {}{}{}", verb, name, *name != '\0' ? " in " : "", object.where()), cause);
}

// The same for what reads.
template <class Result>
Result check_read(Result result, const char* verb, const Object& object, const char* name = "") {
    if (result >= 0) return result;
    const Cause cause = last_cause();
    fail_to_read(fmt::format("cannot {} {}{}{}", verb, name, *name != '\0' ? " in " : "", object.where()), cause);
}

// hsize_t is another 64-bit type in every other version of HDF5.
inline std::vector<hsize_t> sizes(const Shape& shape) {
    return {shape.begin(), shape.end()};
}

Handle space_of(const Shape& shape);
// The space of a dataset, with a part of it selected; `id` is its identifier.
Handle space_of_block(const Dataset& dataset, hid_t id, const Block& block);
Handle space_of_elements(const Dataset& dataset, hid_t id, const Elements& elements, std::size_t count);
Handle text_type(std::size_t length); // bytes; H5T_VARIABLE = of any length
// How so many texts of any length go between memory and file. They are stored in other words than they are held,
// and by itself HDF5 clears a buffer of 1 MiB for that, however few they are. Of the library: nobody closes it.
hid_t transfer_of(std::size_t count);

} // namespace a2aperf::h5
