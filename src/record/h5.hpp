// SPDX-License-Identifier: BSD-3-Clause
// What this program uses of HDF5, as types that close themselves. h5*.cpp alone know hdf5.h.
//
// Files are written in the oldest format, with file locking off and no sieve buffer, so that raw data goes
// straight to the kernel and nothing but raw data is written once the datasets exist (docs/file-format.md).
// Every failure throws std::system_error in hdf5_category() with HDF5's own words; what cannot be read because the
// file is not what it should be throws its heir Unreadable.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <vector>

#include "a2aperf/record/value_type.hpp"

namespace a2aperf::h5 {

// The value of an error is the errno behind it, EIO where HDF5 names none.
const std::error_category& hdf5_category();

// A file that lacks an object or a part, or has another in its place; not a disk that fails.
class Unreadable : public std::system_error {
public:
    using std::system_error::system_error;
};

// What to call a file: one that is opened by its descriptor (/proc/self/fd/7) by the name that it has now.
std::string shown(const std::filesystem::path& path);

// Throws what HDF5 says of the call that just failed: Unreadable where no errno is behind it.
[[noreturn]] void fail_reading(const std::string& what);

// A dataset or a group with all that is in it, by the identifiers of its group and of that which is to hold the
// copy. failure: what to say when it does not work.
void copy(std::int64_t from, std::int64_t to, const char* name, const std::string& failure);

// One attribute of an object, by the identifiers of both.
void copy_attribute(std::int64_t from, std::int64_t to, const char* name, const std::string& failure);

// Names of the attributes of an object, by its identifier, ascending. failure: what to say when it does not work.
std::vector<std::string> attribute_names(std::int64_t object, const std::string& failure);

// "1.10.8", the library that is loaded.
std::string library_version();

using Shape = std::vector<std::uint64_t>; // empty: a scalar
std::uint64_t elements(const Shape& shape);

// Owns one HDF5 identifier of any kind.
class Handle {
public:
    Handle() = default;
    explicit Handle(std::int64_t id) : id_(id) {}
    Handle(Handle&& other) noexcept;
    Handle& operator=(Handle&& other) noexcept;
    ~Handle();
    std::int64_t id() const { return id_; }
    std::int64_t release(); // whose it is from then on
    bool is_open() const { return id_ >= 0; }

private:
    std::int64_t id_ = -1;
};

// What an attribute holds, whatever it is: "i4" (integer of 4 bytes), "f8", "s16" (a text that has 16 bytes), "t"
// (a text of any length). Numbers with the lowest byte first, texts with a NUL behind each.
struct Stored {
    std::string type;
    Shape shape;
    std::vector<char> bytes;
};

using Kind = ValueType;

struct Type {
    Kind kind;
    std::size_t length = 0; // bytes of a fixed text
};

// contiguous: laid out when created, on disk as far as written. compressed: one row of the first dimension after
// the other.
enum class Storage { contiguous, compressed };

// What carries attributes.
class Object {
public:
    bool has_attribute(const char* name) const;
    void set(const char* name, std::string_view value) const;
    void set(const char* name, std::int32_t value) const;
    void set(const char* name, std::int64_t value) const;
    void set(const char* name, double value) const;
    void set(const char* name, std::span<const std::int8_t> values) const;
    std::string text_attribute(const char* name) const;
    std::int64_t integer_attribute(const char* name) const;
    // Their names, ascending; without those that HDF5 makes for scales, which are addresses within the file.
    std::vector<std::string> attributes() const;
    Stored stored_attribute(const char* name) const;
    void copy_attribute(const Object& target, const char* name) const; // which has none of that name

    std::string identity() const; // the same by whatever path it was opened, and no other object's
    std::string where() const;    // "/raw/begin of out.h5"
    [[noreturn]] void throw_unreadable(const std::string& why) const; // "<where> <why>"

protected:
    Object() = default;
    explicit Object(Handle handle) : handle_(std::move(handle)) {}
    std::int64_t id() const { return handle_.id(); }

    Handle handle_;
};

// A box of a dataset; offset and count have one entry per dimension.
struct Block {
    Shape offset;
    Shape count;
};

// Bytes of a file.
struct Extent {
    std::uint64_t offset;
    std::uint64_t bytes;
};

// Single elements: one index per dimension, element after element.
struct Elements {
    std::vector<std::uint64_t> coordinates;
};

// What the file is made of; other types are not offered.
template <class T>
constexpr Kind number_kind() {
    if constexpr (std::is_same_v<T, std::int8_t>) return Kind::int8;
    if constexpr (std::is_same_v<T, std::int32_t>) return Kind::int32;
    if constexpr (std::is_same_v<T, std::int64_t>) return Kind::int64;
    static_assert(std::is_same_v<T, std::int8_t> || std::is_same_v<T, std::int32_t> ||
                  std::is_same_v<T, std::int64_t> || std::is_same_v<T, double>);
    return Kind::float64;
}

// Values are row-major; T is std::int8_t, std::int32_t, std::int64_t or double, converted where the dataset's type
// is another number.
class Dataset : public Object {
public:
    Dataset() = default;
    bool is_open() const { return handle_.is_open(); }
    Shape shape() const;
    void require_shape(const Shape& wanted) const; // Unreadable where it is another
    std::uint64_t stored_bytes() const;            // in the file, compressed

    // Without a block all of them.
    template <class T>
    void write(std::span<const T> values, const Block& block = {}) const {
        write_numbers(number_kind<T>(), values.data(), values.size(), block);
    }
    template <class T>
    void write(std::span<const T> values, const Elements& elements) const {
        write_numbers(number_kind<T>(), values.data(), values.size(), elements);
    }
    template <class T>
    std::vector<T> read(const Block& block = {}) const {
        std::vector<T> values(count_of(block));
        read_numbers(number_kind<T>(), values.data(), values.size(), block);
        return values;
    }
    template <class T>
    std::vector<T> read(const Elements& elements) const {
        std::vector<T> values(count_of(elements));
        read_numbers(number_kind<T>(), values.data(), values.size(), elements);
        return values;
    }

    void write_text(const std::vector<std::string>& values) const;
    std::vector<std::string> read_text() const;

    // NUL-padded elements of the type's length, one after the other.
    void write_fixed(std::span<const char> bytes, const Block& block) const;
    std::vector<char> read_fixed(std::size_t length, const Block& block) const;

    // As the file says it: the word of Stored, and bytes as there, but for texts of fixed length, which are whole.
    std::string type_word() const;
    std::size_t element_bytes() const; // in memory
    // Where its values lie in the file; nothing where they are in more chunks than HDF5 finds in little time.
    std::optional<std::vector<Extent>> places() const;
    std::vector<char> stored(const Block& block) const;
    std::vector<char> stored(const Elements& elements) const; // not of texts of any length

    void make_scale(const char* dimension) const;
    void attach_scale(unsigned axis, const Dataset& scale) const;

private:
    friend class Group;
    explicit Dataset(Handle handle) : Object(std::move(handle)) {}

    std::size_t count_of(const Block& block) const; // of all, refuses more than any file of ours has
    std::size_t count_of(const Elements& elements) const;
    void write_numbers(Kind kind, const void* values, std::size_t count, const Block& block) const;
    void write_numbers(Kind kind, const void* values, std::size_t count, const Elements& elements) const;
    void read_numbers(Kind kind, void* values, std::size_t count, const Block& block) const;
    void read_numbers(Kind kind, void* values, std::size_t count, const Elements& elements) const;
};

class Group : public Object {
public:
    Group() = default;
    Group create_group(const char* name) const;
    Group open_group(const char* name) const;
    Dataset create_dataset(const char* name, Type type, const Shape& shape,
                           Storage storage = Storage::contiguous) const;
    Dataset open_dataset(const char* name) const;
    bool has(const char* name) const;
    bool has_group(const char* name) const; // not a dataset
    std::vector<std::string> children() const;
    // A copy of everything below `name`, attributes included, under the same name.
    void copy_to(const Group& target, const char* name) const;

protected:
    explicit Group(Handle handle) : Object(std::move(handle)) {}
};

class File : public Group {
public:
    enum class Access { read_only, read_write };
    File() = default;
    static bool is_hdf5(const std::filesystem::path& path);
    static File create(const std::filesystem::path& path); // replaces what is there
    static File open(const std::filesystem::path& path, Access access);

    // Hands all that HDF5 holds back to the kernel, so that closing has nothing left to fail at.
    void flush() const;
    void sync_data() const; // to the disk: what was written before is there before what is written after
    void sync() const;      // the same, with all that the file system says of the file

    // What letting go of it would do, and says where that fails: closing writes too. For who has let go of all
    // objects in it, since the last one of them is what closes a file.
    void close();

private:
    explicit File(Handle handle) : Group(std::move(handle)) {}
    int descriptor() const;
};

} // namespace a2aperf::h5
