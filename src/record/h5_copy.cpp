// SPDX-License-Identifier: BSD-3-Clause
// Copies a group into another file by reading and writing what it holds. H5Ocopy would do it in one call, and
// crashes within HDF5 1.10 when the disk fills up at a text.
#include <hdf5.h>

#include <cerrno>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "h5_calls.hpp"

namespace a2aperf::h5 {
namespace {

// Of a dataset or an attribute, on their way; what has any length, texts and lists, is HDF5's own memory.
class Values {
public:
    Values(hid_t type, hid_t space)
        : type_(type), space_(space), count_(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space))),
          size_(count_ * H5Tget_size(type)), bytes_(std::make_unique<char[]>(size_)) {}
    ~Values() {
        if (are_lent_) H5Dvlen_reclaim(type_, space_, H5P_DEFAULT, data());
    }
    Values(const Values&) = delete;
    Values& operator=(const Values&) = delete;

    bool is_empty() const { return size_ == 0; }
    void* data() { return static_cast<void*>(bytes_.get()); }
    hid_t transfer() const { return H5Tis_variable_str(type_) > 0 ? transfer_of(count_) : H5P_DEFAULT; }
    void have_been_read() { are_lent_ = H5Tis_variable_str(type_) > 0 || H5Tdetect_class(type_, H5T_VLEN) > 0; }

private:
    hid_t type_, space_;
    std::size_t count_, size_;
    std::unique_ptr<char[]> bytes_;
    bool are_lent_ = false;
};

class Copier {
public:
    explicit Copier(const std::string& failure) : failure_(failure) {}

    void object(hid_t from, hid_t to, const char* name) const {
        const Handle source(must(H5Oopen(from, name, H5P_DEFAULT)));
        if (H5Iget_type(source.id()) == H5I_DATASET)
            dataset(source.id(), to, name);
        else
            group(source.id(), to, name);
    }

    void attribute(hid_t from, hid_t to, const char* name) const {
        const Handle source(must(H5Aopen(from, name, H5P_DEFAULT)));
        const Handle type(must(H5Aget_type(source.id())));
        const Handle space(must(H5Aget_space(source.id())));
        const Handle target(must(H5Acreate2(to, name, type.id(), space.id(), H5P_DEFAULT, H5P_DEFAULT)));
        Values values(type.id(), space.id());
        if (values.is_empty()) return;
        must(H5Aread(source.id(), type.id(), values.data()));
        values.have_been_read();
        must(H5Awrite(target.id(), type.id(), values.data()));
    }

private:
    // At once: the next call of HDF5, such as one that closes, forgets why.
    template <class Result>
    Result must(Result result) const {
        if (result < 0) fail_reading(failure_);
        return result;
    }

    void group(hid_t source, hid_t to, const char* name) const {
        const Handle target(must(H5Gcreate2(to, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)));
        attributes(source, target.id());
        H5G_info_t info{};
        must(H5Gget_info(source, &info));
        for (hsize_t i = 0; i < info.nlinks; ++i) {
            const auto get_name = [&](char* text, std::size_t size) {
                return must(
                    H5Lget_name_by_idx(source, ".", H5_INDEX_NAME, H5_ITER_INC, i, text, size, H5P_DEFAULT));
            };
            std::string child(static_cast<std::size_t>(get_name(nullptr, 0)), '\0');
            get_name(child.data(), child.size() + 1);
            object(source, target.id(), child.c_str());
        }
    }

    void dataset(hid_t source, hid_t to, const char* name) const {
        const Handle type(must(H5Dget_type(source)));
        const Handle space(must(H5Dget_space(source)));
        require_small(H5Tget_size(type.id()), space.id());
        const Handle properties(must(H5Dget_create_plist(source)));
        const Handle target(
            must(H5Dcreate2(to, name, type.id(), space.id(), H5P_DEFAULT, properties.id(), H5P_DEFAULT)));
        attributes(source, target.id());
        Values values(type.id(), space.id());
        if (values.is_empty()) return;
        must(H5Dread(source, type.id(), H5S_ALL, H5S_ALL, values.transfer(), values.data()));
        values.have_been_read();
        must(H5Dwrite(target.id(), type.id(), H5S_ALL, H5S_ALL, values.transfer(), values.data()));
    }

    // It is in memory at once.
    void require_small(std::uint64_t bytes, hid_t space) const {
        constexpr std::uint64_t kMostBytes = 256U << 20U; // no file of ours has more, whatever it says of itself
        std::vector<hsize_t> extents(static_cast<std::size_t>(must(H5Sget_simple_extent_ndims(space))));
        must(H5Sget_simple_extent_dims(space, extents.data(), nullptr));
        for (const hsize_t extent : extents) {
            if (extent == 0) return;
            if (bytes > kMostBytes / extent)
                throw Unreadable(EIO, hdf5_category(),
                                 fmt::format("{}: a dataset in it has more than {} bytes", failure_, kMostBytes));
            bytes *= extent;
        }
    }

    void attributes(hid_t from, hid_t to) const {
        for (const std::string& name : attribute_names(from, failure_)) attribute(from, to, name.c_str());
    }

    const std::string& failure_;
};

} // namespace

void copy(std::int64_t from, std::int64_t to, const char* name, const std::string& failure) {
    Copier(failure).object(from, to, name);
}

void copy_attribute(std::int64_t from, std::int64_t to, const char* name, const std::string& failure) {
    Copier(failure).attribute(from, to, name);
}

} // namespace a2aperf::h5
