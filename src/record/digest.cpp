// SPDX-License-Identifier: BSD-3-Clause
#include "digest.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "crc32.hpp"
#include "parts.hpp"

namespace a2aperf {
namespace {

// Known at the end of a launch only.
constexpr std::array<std::string_view, 5> kLate{"end_state", "end_reason", "ended", "message", "end_checksum"};

void add_type(Crc32& crc, const std::string& type, const h5::Shape& shape) {
    crc.add_text(type);
    crc.add_count(shape.size());
    for (const std::uint64_t extent : shape) crc.add_count(extent);
}

void add_attributes(Crc32& crc, const h5::Object& object) {
    for (const std::string& name : object.attributes()) {
        const h5::Stored attribute = object.stored_attribute(name.c_str());
        crc.add_text(name);
        add_type(crc, attribute.type, attribute.shape);
        crc.add(attribute.bytes);
    }
}

// No file of ours has more values that never change, whatever it says of itself: --max-samples is the length of a
// scale.
constexpr std::uint64_t kMostElements = 1U << 27U;

void require_few(const h5::Dataset& dataset, const h5::Shape& shape) {
    std::uint64_t count = 1;
    for (const std::uint64_t extent : shape) {
        if (extent > kMostElements || count * extent > kMostElements)
            dataset.throw_unreadable(fmt::format("has more than {} elements", kMostElements));
        count *= extent;
    }
}

// Of all below a group, each once. An object with two names in groups with two names, and so on, has more paths
// than anybody can go: no file of ours has one.
class Walk {
public:
    explicit Walk(Crc32& crc) : crc_(crc) {}

    // path: without a slash at its end. NOLINTNEXTLINE(misc-no-recursion): as deep as the file's groups
    void add_group(const h5::Group& group, const std::string& path) {
        require_first(group);
        crc_.add(std::string_view("G"));
        add_attributes(crc_, group);
        std::vector<std::string> names = group.children();
        std::sort(names.begin(), names.end());
        for (const std::string& name : names) {
            const std::string below = fmt::format("{}/{}", path, name);
            crc_.add_text(below);
            if (!group.has_group(name.c_str()))
                add_dataset(group.open_dataset(name.c_str()), below, name);
            else if (std::count(below.begin(), below.end(), '/') > kDeepest)
                group.throw_unreadable("is too deep in other groups");
            else
                add_group(group.open_group(name.c_str()), below);
        }
    }

private:
    static constexpr int kDeepest = 16;

    void require_first(const h5::Object& object) {
        if (!seen_.insert(object.identity()).second) object.throw_unreadable("is there twice");
    }

    void add_dataset(const h5::Dataset& dataset, const std::string& path, const std::string& name) {
        require_first(dataset);
        const h5::Shape shape = dataset.shape();
        crc_.add(std::string_view("D"));
        add_type(crc_, dataset.type_word(), shape);
        add_attributes(crc_, dataset);
        if (!never_changes(dataset, path, name)) return;
        require_few(dataset, shape);
        in_parts(whole(shape), dataset.element_bytes(),
                 [&](const h5::Block& part) { crc_.add(dataset.stored(part)); });
    }

    Crc32& crc_;
    std::set<std::string> seen_;
};

} // namespace

bool never_changes(const h5::Dataset& dataset, const std::string& path, const std::string& name) {
    if (path.starts_with("/segments/")) return std::find(kLate.begin(), kLate.end(), name) == kLate.end();
    if (dataset.type_word() == "t") return true;
    constexpr std::string_view kScaleWithEnd("DIMENSION_SCALE\0", 16);
    static const std::vector<char> kScale(kScaleWithEnd.begin(), kScaleWithEnd.end());
    return dataset.has_attribute("CLASS") && dataset.stored_attribute("CLASS").bytes == kScale;
}

std::int64_t digest_of(const h5::File& file) {
    Crc32 crc;
    crc.add_text("/");
    Walk(crc).add_group(file, "");
    return crc.value();
}

} // namespace a2aperf
