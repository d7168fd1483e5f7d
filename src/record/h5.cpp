// SPDX-License-Identifier: BSD-3-Clause
#include "h5_calls.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "a2aperf/base/utf8.hpp"

namespace a2aperf::h5 {
namespace {

// Before the library is used first: failures are thrown and not printed, and no setting of the user's brings back
// HDF5's own lock, which would collide with ours (file_lock.hpp).
void prepare_library() {
    // All that we open we close. What could not be written would crash HDF5's own tidying up at the exit.
    H5dont_atexit();
    setenv("HDF5_USE_FILE_LOCKING", "FALSE", 1);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

Handle stored_type(Type type) {
    switch (type.kind) {
    case Kind::int8:
        return Handle(H5Tcopy(H5T_STD_I8LE));
    case Kind::int32:
        return Handle(H5Tcopy(H5T_STD_I32LE));
    case Kind::int64:
        return Handle(H5Tcopy(H5T_STD_I64LE));
    case Kind::float64:
        return Handle(H5Tcopy(H5T_IEEE_F64LE));
    case Kind::text:
        return text_type(H5T_VARIABLE);
    case Kind::fixed_text:
        return text_type(type.length);
    }
    return {};
}

// Chunks hold one row of the first dimension, or as much of it as stays well below the 4 GiB a chunk may have: as
// many rows of the next dimension that fit, or of the one after it where not even one does.
Shape chunk_of(const Shape& shape, std::size_t element_bytes) {
    constexpr std::uint64_t kLargestChunk = 16U << 20U;
    Shape chunk = shape;
    chunk[0] = 1;
    for (std::size_t axis = 1; axis < chunk.size() && elements(chunk) * element_bytes > kLargestChunk; ++axis) {
        const std::uint64_t row = elements(chunk) / chunk[axis] * element_bytes;
        chunk[axis] = std::clamp<std::uint64_t>(kLargestChunk / row, 1, chunk[axis]);
    }
    return chunk;
}

Handle creation_properties(const Shape& shape, Storage storage, Type type, hid_t element) {
    Handle properties(H5Pcreate(H5P_DATASET_CREATE));
    if (storage == Storage::compressed && elements(shape) > 0) {
        constexpr unsigned kLevel = 1; // little less than the best, at a third of its time
        const Shape chunk = chunk_of(shape, H5Tget_size(element));
        H5Pset_chunk(properties.id(), static_cast<int>(chunk.size()), sizes(chunk).data());
        H5Pset_shuffle(properties.id());
        H5Pset_deflate(properties.id(), kLevel);
        return properties;
    }
    H5Pset_layout(properties.id(), H5D_CONTIGUOUS);
    H5Pset_alloc_time(properties.id(), H5D_ALLOC_TIME_EARLY);
    // A variable-length text without a fill value would be a wild reference until it is written.
    if (type.kind != Kind::text) H5Pset_fill_time(properties.id(), H5D_FILL_TIME_NEVER);
    return properties;
}

Handle access_properties() {
    Handle properties(H5Pcreate(H5P_FILE_ACCESS));
    H5Pset_libver_bounds(properties.id(), H5F_LIBVER_EARLIEST, H5F_LIBVER_LATEST);
    H5Pset_sieve_buf_size(properties.id(), 0);
    H5Pset_file_locking(properties.id(), false, true);
    return properties;
}

void put_attribute(const Object& object, hid_t id, const char* name, hid_t type, const Shape& shape,
                   const void* value) {
    const Handle space = space_of(shape);
    const Handle attribute(
        check(H5Acreate2(id, name, type, space.id(), H5P_DEFAULT, H5P_DEFAULT), "create attribute", object, name));
    check(H5Awrite(attribute.id(), type, value), "write attribute", object, name);
}

void require_scalar(const Object& object, hid_t attribute, const char* name) {
    const Handle space(H5Aget_space(attribute));
    if (H5Sget_simple_extent_npoints(space.id()) != 1)
        object.throw_unreadable(fmt::format("has not one value in its attribute {}", name));
}

std::string name_of(hid_t id, ssize_t (*get)(hid_t, char*, std::size_t)) {
    const ssize_t length = get(id, nullptr, 0);
    if (length <= 0) return {};
    std::string name(static_cast<std::size_t>(length), '\0');
    get(id, name.data(), name.size() + 1);
    return name;
}

} // namespace

std::string shown(const std::filesystem::path& path) {
    if (!path.native().starts_with("/proc/self/fd/")) return path.string();
    std::error_code error;
    const std::filesystem::path named = std::filesystem::read_symlink(path, error);
    return error ? path.string() : named.string();
}

std::uint64_t elements(const Shape& shape) {
    return std::accumulate(shape.begin(), shape.end(), std::uint64_t{1}, std::multiplies<>());
}

std::string library_version() {
    unsigned major = 0;
    unsigned minor = 0;
    unsigned release = 0;
    H5get_libversion(&major, &minor, &release);
    return fmt::format("{}.{}.{}", major, minor, release);
}

Handle::Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)) {}

Handle& Handle::operator=(Handle&& other) noexcept {
    std::swap(id_, other.id_);
    return *this;
}

std::int64_t Handle::release() {
    return std::exchange(id_, -1);
}

Handle::~Handle() {
    if (id_ >= 0) H5Idec_ref(id_);
}

// Object

std::string Object::where() const {
    const std::string file = shown(name_of(id(), H5Fget_name));
    const std::string name = name_of(id(), H5Iget_name);
    return name.empty() || name == "/" ? file : fmt::format("{} of {}", name, file);
}

void Object::throw_unreadable(const std::string& why) const {
    throw Unreadable(EIO, hdf5_category(), fmt::format("{} {}", where(), why));
}

bool Object::has_attribute(const char* name) const {
    return check_read(H5Aexists(id(), name), "look for attribute", *this, name) > 0;
}

void Object::set(const char* name, std::string_view value) const {
    const std::string text = valid_utf8(value);
    const char* pointer = text.c_str();
    put_attribute(*this, id(), name, text_type(H5T_VARIABLE).id(), {}, &pointer);
}

void Object::set(const char* name, std::int32_t value) const {
    put_attribute(*this, id(), name, H5T_STD_I32LE, {}, &value);
}

void Object::set(const char* name, std::int64_t value) const {
    put_attribute(*this, id(), name, H5T_STD_I64LE, {}, &value);
}

void Object::set(const char* name, double value) const {
    put_attribute(*this, id(), name, H5T_IEEE_F64LE, {}, &value);
}

void Object::set(const char* name, std::span<const std::int8_t> values) const {
    put_attribute(*this, id(), name, H5T_STD_I8LE, {values.size()}, values.data());
}

std::string Object::text_attribute(const char* name) const {
    const Handle attribute(check_read(H5Aopen(id(), name, H5P_DEFAULT), "open attribute", *this, name));
    const Handle type(H5Aget_type(attribute.id()));
    if (H5Tget_class(type.id()) != H5T_STRING) return {};
    require_scalar(*this, attribute.id(), name);
    if (H5Tis_variable_str(type.id()) > 0) {
        char* text = nullptr;
        check_read(H5Aread(attribute.id(), type.id(), static_cast<void*>(&text)), "read attribute", *this, name);
        std::string value = text != nullptr ? text : "";
        H5free_memory(text);
        return value;
    }
    std::string value(H5Tget_size(type.id()), '\0');
    check_read(H5Aread(attribute.id(), type.id(), value.data()), "read attribute", *this, name);
    return valid_utf8(value);
}

std::int64_t Object::integer_attribute(const char* name) const {
    const Handle attribute(check_read(H5Aopen(id(), name, H5P_DEFAULT), "open attribute", *this, name));
    require_scalar(*this, attribute.id(), name);
    std::int64_t value = 0;
    check_read(H5Aread(attribute.id(), H5T_NATIVE_INT64, &value), "read attribute", *this, name);
    return value;
}

// Group

Group Group::create_group(const char* name) const {
    return Group(
        Handle(check(H5Gcreate2(id(), name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), "create", *this, name)));
}

Group Group::open_group(const char* name) const {
    return Group(Handle(check_read(H5Gopen2(id(), name, H5P_DEFAULT), "open", *this, name)));
}

Dataset Group::create_dataset(const char* name, Type type, const Shape& shape, Storage storage) const {
    const Handle element = stored_type(type);
    const Handle space = space_of(shape);
    const Handle properties = creation_properties(shape, storage, type, element.id());
    return Dataset(
        Handle(check(H5Dcreate2(id(), name, element.id(), space.id(), H5P_DEFAULT, properties.id(), H5P_DEFAULT),
                     "create", *this, name)));
}

Dataset Group::open_dataset(const char* name) const {
    return Dataset(Handle(check_read(H5Dopen2(id(), name, H5P_DEFAULT), "open", *this, name)));
}

bool Group::has(const char* name) const {
    return check_read(H5Lexists(id(), name, H5P_DEFAULT), "look for", *this, name) > 0;
}

bool Group::has_group(const char* name) const {
    if (!has(name)) return false;
    const Handle object(check_read(H5Oopen(id(), name, H5P_DEFAULT), "open", *this, name));
    return H5Iget_type(object.id()) == H5I_GROUP;
}

std::vector<std::string> Group::children() const {
    H5G_info_t info{};
    check_read(H5Gget_info(id(), &info), "list", *this);
    std::vector<std::string> names;
    for (hsize_t i = 0; i < info.nlinks; ++i) {
        const ssize_t length = check_read(
            H5Lget_name_by_idx(id(), ".", H5_INDEX_NAME, H5_ITER_INC, i, nullptr, 0, H5P_DEFAULT), "list", *this);
        std::string name(static_cast<std::size_t>(length), '\0');
        H5Lget_name_by_idx(id(), ".", H5_INDEX_NAME, H5_ITER_INC, i, name.data(), name.size() + 1, H5P_DEFAULT);
        names.push_back(std::move(name));
    }
    return names;
}

std::string Object::identity() const {
#if H5_VERSION_GE(1, 12, 0)
    H5O_info2_t info{};
    check_read(H5Oget_info3(id(), &info, H5O_INFO_BASIC), "look at", *this);
    return {std::begin(info.token.__data), std::end(info.token.__data)};
#else
    H5O_info_t info{};
    check_read(H5Oget_info(id(), &info), "look at", *this);
    return fmt::to_string(info.addr);
#endif
}

void Object::copy_attribute(const Object& target, const char* name) const {
    h5::copy_attribute(id(), target.id(), name, fmt::format("cannot copy the attribute {} of {}", name, where()));
}

void Group::copy_to(const Group& target, const char* name) const {
    copy(id(), target.id(), name, fmt::format("cannot copy {} in {}", name, where()));
}

// File

bool File::is_hdf5(const std::filesystem::path& path) {
    prepare_library();
    return H5Fis_hdf5(path.c_str()) != 0; // below 0: it could not be read, which opening it will tell
}

File File::create(const std::filesystem::path& path) {
    prepare_library();
    const Handle properties = access_properties();
    const hid_t id = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, properties.id());
    if (id < 0) fail(fmt::format("cannot create {}", shown(path)), last_cause());
    return File(Handle(id));
}

File File::open(const std::filesystem::path& path, Access access) {
    prepare_library();
    const unsigned flags = access == Access::read_only ? H5F_ACC_RDONLY : H5F_ACC_RDWR;
    const Handle properties = access_properties();
    const hid_t id = H5Fopen(path.c_str(), flags, properties.id());
    if (id < 0) fail(fmt::format("cannot open {}", shown(path)), last_cause());
    return File(Handle(id));
}

void File::flush() const {
    check(H5Fflush(id(), H5F_SCOPE_GLOBAL), "write", *this);
}

int File::descriptor() const {
    void* descriptor = nullptr;
    check(H5Fget_vfd_handle(id(), H5P_DEFAULT, &descriptor), "reach the descriptor of", *this);
    return *static_cast<const int*>(descriptor);
}

void File::sync_data() const {
    if (fdatasync(descriptor()) != 0)
        throw std::system_error(errno, hdf5_category(), fmt::format("cannot sync {}", where()));
}

void File::sync() const {
    if (fsync(descriptor()) != 0)
        throw std::system_error(errno, hdf5_category(), fmt::format("cannot sync {}", where()));
}

void File::close() {
    const std::string file = where();
    if (H5Fclose(handle_.release()) < 0) fail(fmt::format("cannot close {}", file), last_cause());
}

} // namespace a2aperf::h5
