// SPDX-License-Identifier: BSD-3-Clause
#include "damage.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <hdf5.h>

namespace a2aperf::fuzz {
namespace {

constexpr std::size_t kMostDimensions = 4;
constexpr std::size_t kLongestText = 4096;

// Identifiers are closed through one list: a script is short.
class Opened {
public:
    Opened() = default;
    Opened(const Opened&) = delete;
    Opened& operator=(const Opened&) = delete;
    ~Opened() {
        for (auto id = ids_.rbegin(); id != ids_.rend(); ++id) H5Idec_ref(*id);
    }
    hid_t operator()(hid_t id) {
        if (id >= 0) ids_.push_back(id);
        return id;
    }

private:
    std::vector<hid_t> ids_;
};

using Words = std::vector<std::string>;

Words words_of(std::string_view line, char separator) {
    Words words;
    while (!line.empty()) {
        const std::size_t end = std::min(line.find(separator), line.size());
        if (end > 0) words.emplace_back(line.substr(0, end));
        line.remove_prefix(std::min(end + 1, line.size()));
    }
    return words;
}

template <class T>
T number(const std::string& text) {
    T value{};
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

hid_t type_of(const std::string& name, Opened& opened) {
    if (name == "i8") return H5T_STD_I8LE;
    if (name == "i32") return H5T_STD_I32LE;
    if (name == "i64") return H5T_STD_I64LE;
    if (name == "u64") return H5T_STD_U64LE;
    if (name == "f64") return H5T_IEEE_F64LE;
    const auto length = [&](std::size_t prefix) {
        return std::clamp<std::size_t>(number<std::size_t>(name.substr(prefix)), 1, kLongestText);
    };
    if (name.starts_with("opaque")) return opened(H5Tcreate(H5T_OPAQUE, length(6)));
    const bool is_fixed = name.starts_with('s');
    if (name != "text" && !is_fixed) return -1;
    const hid_t type = opened(H5Tcopy(H5T_C_S1));
    H5Tset_size(type, is_fixed ? length(1) : H5T_VARIABLE);
    H5Tset_cset(type, H5T_CSET_UTF8);
    return type;
}

// A value in memory, as HDF5 wants it for a type.
class Cell {
public:
    Cell(hid_t type, const std::string& value, Opened& opened) {
        switch (H5Tget_class(type)) {
        case H5T_STRING:
            type_ = type;
            bytes_.assign(value.begin(), value.end());
            bytes_.resize(std::max(H5Tget_size(type), value.size() + 1), '\0');
            text_ = bytes_.data();
            is_pointer_ = H5Tis_variable_str(type) > 0;
            break;
        case H5T_FLOAT:
            real_ = number<double>(value);
            type_ = H5T_NATIVE_DOUBLE;
            bytes_.resize(sizeof real_);
            std::copy_n(reinterpret_cast<const char*>(&real_), sizeof real_, bytes_.begin());
            break;
        case H5T_INTEGER:
            whole_ = number<std::int64_t>(value);
            type_ = H5T_NATIVE_INT64;
            bytes_.resize(sizeof whole_);
            std::copy_n(reinterpret_cast<const char*>(&whole_), sizeof whole_, bytes_.begin());
            break;
        default:
            type_ = opened(H5Tcopy(type));
            bytes_.resize(H5Tget_size(type));
        }
    }
    hid_t type() const { return type_; }
    const void* data() const { return is_pointer_ ? static_cast<const void*>(&text_) : bytes_.data(); }

private:
    hid_t type_ = -1;
    bool is_pointer_ = false;
    const char* text_ = nullptr;
    double real_ = 0;
    std::int64_t whole_ = 0;
    std::vector<char> bytes_;
};

void make_dataset(hid_t file, const Words& words, Opened& opened) {
    const hid_t type = words.size() > 2 ? type_of(words[2], opened) : -1;
    if (type < 0 || words.size() > 3 + kMostDimensions) return;
    std::vector<hsize_t> shape;
    for (std::size_t i = 3; i < words.size(); ++i) shape.push_back(number<hsize_t>(words[i]));
    const hid_t space =
        opened(shape.empty() ? H5Screate(H5S_SCALAR)
                             : H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr));
    // Allocated when written, and nothing is: a shape may be larger than any disk.
    const hid_t properties = opened(H5Pcreate(H5P_DATASET_CREATE));
    H5Pset_alloc_time(properties, H5D_ALLOC_TIME_LATE);
    H5Ldelete(file, words[1].c_str(), H5P_DEFAULT);
    opened(H5Dcreate2(file, words[1].c_str(), type, space, H5P_DEFAULT, properties, H5P_DEFAULT));
}

void set_element(hid_t file, const Words& words, Opened& opened) {
    const hid_t dataset = words.size() > 2 ? opened(H5Dopen2(file, words[1].c_str(), H5P_DEFAULT)) : -1;
    if (dataset < 0) return;
    const hid_t space = opened(H5Dget_space(dataset));
    const hssize_t count = H5Sget_simple_extent_npoints(space);
    constexpr hssize_t kMostElements = 1 << 20; // more than any real one has here: a made-up shape
    if (count <= 0 || count > kMostElements) return;
    const Cell cell(opened(H5Dget_type(dataset)), words.size() > 3 ? words[3] : "", opened);
    std::vector<hsize_t> shape(static_cast<std::size_t>(H5Sget_simple_extent_ndims(space)));
    H5Sget_simple_extent_dims(space, shape.data(), nullptr);
    if (shape.empty()) {
        H5Dwrite(dataset, cell.type(), H5S_ALL, H5S_ALL, H5P_DEFAULT, cell.data());
        return;
    }
    auto index = number<hsize_t>(words[2]) % static_cast<hsize_t>(count);
    std::vector<hsize_t> place(shape.size());
    for (std::size_t i = shape.size(); i-- > 0; index /= shape[i]) place[i] = index % shape[i];
    const std::vector<hsize_t> one(shape.size(), 1);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, place.data(), nullptr, one.data(), nullptr);
    H5Dwrite(dataset, cell.type(), opened(H5Screate(H5S_SCALAR)), space, H5P_DEFAULT, cell.data());
}

void edit_attribute(hid_t file, const Words& words, Opened& opened) {
    const Words place = words_of(words[1], '@');
    const std::string path = place.size() > 1 ? place[0] : "/";
    if (place.empty() || (words[1].starts_with('@') && place.size() > 1)) return;
    const char* name = place.back().c_str();
    const hid_t object = opened(H5Oopen(file, path.c_str(), H5P_DEFAULT));
    if (object < 0) return;
    H5Adelete(object, name);
    const hid_t type = words[0] == "attribute" && words.size() > 2 ? type_of(words[2], opened) : -1;
    if (type < 0) return;
    const hid_t attribute =
        opened(H5Acreate2(object, name, type, opened(H5Screate(H5S_SCALAR)), H5P_DEFAULT, H5P_DEFAULT));
    const Cell cell(type, words.size() > 3 ? words[3] : "", opened);
    if (attribute >= 0) H5Awrite(attribute, cell.type(), cell.data());
}

void edit(hid_t file, const Words& words) {
    Opened opened;
    const std::string& verb = words[0];
    const char* path = words[1].c_str();
    if (verb == "delete") H5Ldelete(file, path, H5P_DEFAULT);
    if (verb == "dataset") make_dataset(file, words, opened);
    if (verb == "set") set_element(file, words, opened);
    if (verb == "drop" || verb == "attribute") edit_attribute(file, words, opened);
    if (verb == "group") {
        H5Ldelete(file, path, H5P_DEFAULT);
        opened(H5Gcreate2(file, path, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    }
    if (verb == "link" && words.size() > 2) {
        H5Ldelete(file, path, H5P_DEFAULT);
        H5Lcreate_soft(words[2].c_str(), file, path, H5P_DEFAULT, H5P_DEFAULT);
    }
}

} // namespace

void damage(const std::filesystem::path& file, std::string_view script) {
    constexpr std::size_t kMostEdits = 8;
    std::size_t edits = 0;
    std::uintmax_t length = std::numeric_limits<std::uintmax_t>::max();
    {
        Opened opened;
        const hid_t id = opened(H5Fopen(file.c_str(), H5F_ACC_RDWR, H5P_DEFAULT));
        for (const std::string& line : words_of(script, '\n')) {
            const Words words = words_of(line, ' ');
            if (words.size() < 2) continue;
            if (++edits > kMostEdits) break;
            if (words[0] == "truncate")
                length = number<std::uint32_t>(words[1]);
            else
                edit(id, words);
        }
    }
    if (length < std::filesystem::file_size(file)) std::filesystem::resize_file(file, length);
}

} // namespace a2aperf::fuzz
