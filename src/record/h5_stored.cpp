// SPDX-License-Identifier: BSD-3-Clause
// Values as the file says them, whatever their type: what checksums are made of. On every machine the same.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <vector>

#include <fmt/format.h>

#include "h5_calls.hpp"

namespace a2aperf::h5 {
namespace {

bool is_variable_text(hid_t type) {
    return H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) > 0;
}

std::string word_of(hid_t type, const Object& object) {
    const H5T_class_t kind = H5Tget_class(type);
    const std::size_t size = H5Tget_size(type);
    if (is_variable_text(type)) return "t";
    if (kind == H5T_STRING) return fmt::format("s{}", size);
    if (kind == H5T_INTEGER) return fmt::format("{}{}", H5Tget_sign(type) == H5T_SGN_2 ? 'i' : 'u', size);
    if (kind == H5T_FLOAT) return fmt::format("f{}", size);
    object.throw_unreadable("has values of a type that no file of ours has");
}

// Numbers with their lowest byte first; texts as they are.
Handle type_in_memory(hid_t type, const Object& object) {
    Handle copy(check_read(H5Tcopy(type), "read the type of", object));
    const H5T_class_t kind = H5Tget_class(type);
    if (kind == H5T_INTEGER || kind == H5T_FLOAT) H5Tset_order(copy.id(), H5T_ORDER_LE);
    return copy;
}

// Texts of any length, which are HDF5's memory until here: each with its NUL.
std::vector<char> take_texts(std::vector<char*>& texts) {
    std::vector<char> bytes;
    for (char* text : texts) {
        const char* const begin = text != nullptr ? text : "";
        bytes.insert(bytes.end(), begin, begin + std::strlen(begin) + 1);
        H5free_memory(text);
    }
    return bytes;
}

Shape shape_of(hid_t space) {
    std::vector<hsize_t> shape(static_cast<std::size_t>(std::max(H5Sget_simple_extent_ndims(space), 0)));
    H5Sget_simple_extent_dims(space, shape.data(), nullptr);
    return {shape.begin(), shape.end()};
}

struct Names {
    std::vector<std::string> found;
    std::exception_ptr failure; // HDF5 is in between: it waits here
};

herr_t note_name(hid_t /*object*/, const char* name, const H5A_info_t* /*info*/, void* names) {
    auto& noted = *static_cast<Names*>(names);
    try {
        noted.found.emplace_back(name);
        return 0;
    } catch (...) {
        noted.failure = std::current_exception();
        return -1;
    }
}

// Each fixed text without what fills it up, with a NUL.
std::vector<char> with_ends(const std::vector<char>& bytes, std::size_t length) {
    std::vector<char> texts;
    for (auto text = bytes.begin(); text != bytes.end(); text += static_cast<std::ptrdiff_t>(length)) {
        auto end = text + static_cast<std::ptrdiff_t>(length);
        while (end != text && *(end - 1) == '\0') --end;
        texts.insert(texts.end(), text, end);
        texts.push_back('\0');
    }
    return texts;
}

} // namespace

std::vector<std::string> attribute_names(std::int64_t object, const std::string& failure) {
    Names names;
    const herr_t result = H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, nullptr, note_name, &names);
    if (names.failure) std::rethrow_exception(names.failure);
    if (result < 0) fail_reading(failure);
    std::sort(names.found.begin(), names.found.end());
    return names.found;
}

std::vector<std::string> Object::attributes() const {
    std::vector<std::string> names =
        attribute_names(id(), fmt::format("cannot list the attributes of {}", where()));
    std::erase_if(names, [](const auto& name) { return name == "DIMENSION_LIST" || name == "REFERENCE_LIST"; });
    return names;
}

Stored Object::stored_attribute(const char* name) const {
    constexpr std::uint64_t kMostBytes = 64U << 10U; // that the oldest format has room for
    const Handle attribute(check_read(H5Aopen(id(), name, H5P_DEFAULT), "open an attribute of", *this));
    const Handle type(check_read(H5Aget_type(attribute.id()), "read an attribute of", *this));
    const Handle space(check_read(H5Aget_space(attribute.id()), "read an attribute of", *this));
    Stored stored{word_of(type.id(), *this), shape_of(space.id()), {}};
    const auto count = static_cast<std::uint64_t>(std::max<hssize_t>(H5Sget_simple_extent_npoints(space.id()), 0));
    const std::size_t size = H5Tget_size(type.id());
    if (count > kMostBytes / size) throw_unreadable(fmt::format("has an attribute {} that is too large", name));
    if (count == 0) return stored;
    const Handle in_memory = type_in_memory(type.id(), *this);
    if (is_variable_text(type.id())) {
        std::vector<char*> texts(count);
        check_read(H5Aread(attribute.id(), in_memory.id(), static_cast<void*>(texts.data())),
                   "read an attribute of", *this);
        stored.bytes = take_texts(texts);
        return stored;
    }
    stored.bytes.resize(count * size);
    check_read(H5Aread(attribute.id(), in_memory.id(), stored.bytes.data()), "read an attribute of", *this);
    if (H5Tget_class(type.id()) == H5T_STRING) stored.bytes = with_ends(stored.bytes, size);
    return stored;
}

std::string Dataset::type_word() const {
    const Handle type(check_read(H5Dget_type(id()), "read the type of", *this));
    return word_of(type.id(), *this);
}

std::size_t Dataset::element_bytes() const {
    const Handle type(check_read(H5Dget_type(id()), "read the type of", *this));
    return H5Tget_size(type.id());
}

std::optional<std::vector<Extent>> Dataset::places() const {
    constexpr hsize_t kMostChunks = 1000; // for each HDF5 1.10 goes through all before it
    const Handle properties(check_read(H5Dget_create_plist(id()), "read the storage of", *this));
    if (H5Pget_layout(properties.id()) != H5D_CHUNKED) {
        const haddr_t address = H5Dget_offset(id());
        const hsize_t bytes = H5Dget_storage_size(id());
        if (address == HADDR_UNDEF || bytes == 0) return std::vector<Extent>();
        return std::vector<Extent>{{address, bytes}};
    }
    const Handle space(check_read(H5Dget_space(id()), "read the shape of", *this));
    hsize_t count = 0;
    check_read(H5Dget_num_chunks(id(), space.id(), &count), "read the storage of", *this);
    if (count > kMostChunks) return std::nullopt;
    std::vector<Extent> found;
    for (hsize_t i = 0; i < count; ++i) {
        unsigned filters = 0;
        haddr_t address = HADDR_UNDEF;
        hsize_t bytes = 0;
        check_read(H5Dget_chunk_info(id(), space.id(), i, nullptr, &filters, &address, &bytes),
                   "read the storage of", *this);
        found.push_back({address, bytes});
    }
    return found;
}

std::vector<char> Dataset::stored(const Block& block) const {
    const Handle type(check_read(H5Dget_type(id()), "read the type of", *this));
    const Handle in_memory = type_in_memory(type.id(), *this);
    const Handle space = space_of_block(*this, id(), block);
    const std::uint64_t count = elements(block.count);
    if (count == 0) return {};
    const Handle there = space_of(block.count.empty() ? Shape{count} : block.count); // see space_in_memory()
    if (is_variable_text(type.id())) {
        std::vector<char*> texts(count);
        check_read(H5Dread(id(), in_memory.id(), there.id(), space.id(), transfer_of(count),
                           static_cast<void*>(texts.data())),
                   "read", *this);
        return take_texts(texts);
    }
    std::vector<char> bytes(count * H5Tget_size(type.id()));
    check_read(H5Dread(id(), in_memory.id(), there.id(), space.id(), H5P_DEFAULT, bytes.data()), "read", *this);
    return bytes;
}

std::vector<char> Dataset::stored(const Elements& elements) const {
    const Handle type(check_read(H5Dget_type(id()), "read the type of", *this));
    const Handle in_memory = type_in_memory(type.id(), *this);
    const std::uint64_t count = elements.coordinates.size() / shape().size();
    if (count == 0) return {};
    const Handle space = space_of_elements(*this, id(), elements, count);
    std::vector<char> bytes(count * H5Tget_size(type.id()));
    check_read(H5Dread(id(), in_memory.id(), space_of({count}).id(), space.id(), transfer_of(count), bytes.data()),
               "read", *this);
    return bytes;
}

} // namespace a2aperf::h5
