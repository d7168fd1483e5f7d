// SPDX-License-Identifier: BSD-3-Clause
#include "h5.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <utility>

#include <fmt/format.h>
#include <hdf5.h>
#include <hdf5_hl.h>
#include <unistd.h>

#include "a2aperf/base/utf8.hpp"

namespace a2aperf::h5 {
namespace {

static_assert(sizeof(hid_t) == sizeof(std::int64_t));

class Category : public std::error_category {
public:
    const char* name() const noexcept override { return "HDF5"; }
    std::string message(int value) const override { return std::generic_category().message(value); }
    std::error_condition default_error_condition(int value) const noexcept override {
        return std::generic_category().default_error_condition(value);
    }
};

struct Cause {
    std::string words; // of the innermost function that failed
    int error = EIO;
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

// Of the call that just failed: the next call of any kind clears it.
Cause last_cause() {
    Cause cause{"no reason given"};
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_innermost, &cause);
    return cause;
}

[[noreturn]] void fail(const std::string& what, const Cause& cause) {
    throw std::system_error(cause.error, hdf5_category(), fmt::format("{} ({})", what, cause.words));
}

template <class Result>
Result check(Result result, const char* verb, const Object& object, const char* name = "") {
    if (result >= 0) return result;
    const Cause cause = last_cause();
    fail(fmt::format("cannot {} {}{}{}", verb, name, *name != '\0' ? " in " : "", object.where()), cause);
}

// An errno is the disk's word; without one, the file is not what it should be.
[[noreturn]] void fail_to_read(const std::string& what, const Cause& cause) {
    if (cause.error != EIO) fail(what, cause);
    throw Unreadable(cause.error, hdf5_category(), fmt::format("{} ({})", what, cause.words));
}

// The same for what reads.
template <class Result>
Result check_read(Result result, const char* verb, const Object& object, const char* name = "") {
    if (result >= 0) return result;
    const Cause cause = last_cause();
    fail_to_read(fmt::format("cannot {} {}{}{}", verb, name, *name != '\0' ? " in " : "", object.where()), cause);
}

// Before the library is used first: failures are thrown and not printed, and no setting of the user's brings back
// HDF5's own lock, which would collide with ours (file_lock.hpp).
void prepare_library() {
    // All that we open we close. What could not be written would crash HDF5's own tidying up at the exit.
    H5dont_atexit();
    setenv("HDF5_USE_FILE_LOCKING", "FALSE", 1);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

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

Handle text_type(std::size_t length) {
    Handle type(H5Tcopy(H5T_C_S1));
    H5Tset_size(type.id(), length);
    H5Tset_cset(type.id(), H5T_CSET_UTF8);
    H5Tset_strpad(type.id(), length == H5T_VARIABLE ? H5T_STR_NULLTERM : H5T_STR_NULLPAD);
    return type;
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

// hsize_t is another 64-bit type in every other version of HDF5.
std::vector<hsize_t> sizes(const Shape& shape) {
    return {shape.begin(), shape.end()};
}

Handle space_of(const Shape& shape) {
    if (shape.empty()) return Handle(H5Screate(H5S_SCALAR));
    return Handle(H5Screate_simple(static_cast<int>(shape.size()), sizes(shape).data(), nullptr));
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

// Chunks hold one row of the first dimension, or as much of it as stays well below the 4 GiB a chunk may have.
Shape chunk_of(const Shape& shape, std::size_t element_bytes) {
    constexpr std::uint64_t kLargestChunk = 16U << 20U;
    Shape chunk = shape;
    chunk[0] = 1;
    if (chunk.size() > 1) {
        const std::uint64_t row = elements(chunk) / chunk[1] * element_bytes;
        chunk[1] = std::clamp<std::uint64_t>(kLargestChunk / row, 1, chunk[1]);
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

const std::error_category& hdf5_category() {
    static const Category category;
    return category;
}

std::string shown(const std::filesystem::path& path) {
    if (!path.native().starts_with("/proc/self/fd/")) return path.string();
    std::error_code error;
    const std::filesystem::path named = std::filesystem::read_symlink(path, error);
    return error ? path.string() : named.string();
}

void fail_reading(const std::string& what) {
    fail_to_read(what, last_cause());
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

// Dataset

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
    const Handle in_memory = space_of({values.size()});
    check(H5Dwrite(id(), native<T>(), in_memory.id(), in_file.id(), H5P_DEFAULT, values.data()), "write", *this);
}

template <class T>
void Dataset::write(std::span<const T> values, const Elements& elements) const {
    if (values.empty()) return;
    const Handle in_file = space_of_elements(*this, id(), elements, values.size());
    const Handle in_memory = space_of({values.size()});
    check(H5Dwrite(id(), native<T>(), in_memory.id(), in_file.id(), H5P_DEFAULT, values.data()), "write", *this);
}

template <class T>
std::vector<T> Dataset::read(const Elements& elements) const {
    std::vector<T> values(elements.coordinates.size() / shape().size());
    if (values.empty()) return values;
    const Handle in_file = space_of_elements(*this, id(), elements, values.size());
    const Handle in_memory = space_of({values.size()});
    check_read(H5Dread(id(), native<T>(), in_memory.id(), in_file.id(), H5P_DEFAULT, values.data()), "read", *this);
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
    const Handle in_memory = space_of({values.size()});
    check_read(H5Dread(id(), native<T>(), in_memory.id(), in_file.id(), H5P_DEFAULT, values.data()), "read", *this);
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
    check(H5Dwrite(id(), type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, static_cast<const void*>(pointers.data())),
          "write", *this);
}

std::vector<std::string> Dataset::read_text() const {
    std::vector<char*> pointers(all_elements(*this));
    if (pointers.empty()) return {};
    const Handle type = text_type(H5T_VARIABLE);
    check_read(H5Dread(id(), type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, static_cast<void*>(pointers.data())), "read",
               *this);
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
    const Handle in_memory = space_of({bytes.size() / H5Tget_size(type.id())});
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
    const Handle in_memory = space_of({count});
    check_read(H5Dread(id(), type.id(), in_memory.id(), in_file.id(), H5P_DEFAULT, bytes.data()), "read", *this);
    return bytes;
}

void Dataset::make_scale(const char* dimension) const {
    check(H5DSset_scale(id(), dimension), "make a dimension scale of", *this);
}

void Dataset::attach_scale(unsigned axis, const Dataset& scale) const {
    check(H5DSattach_scale(id(), scale.id(), axis), "attach a dimension scale to", *this);
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
