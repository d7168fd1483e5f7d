// SPDX-License-Identifier: BSD-3-Clause
#include "running_checksum.hpp"

#include <algorithm>

#include "checksum.hpp"
#include "crc32.hpp"
#include "parts.hpp"

namespace a2aperf {
namespace {

// Indices in row-major order.
std::vector<std::uint64_t> indices_of(const h5::Shape& shape, const std::vector<std::uint64_t>& places) {
    std::vector<std::uint64_t> indices;
    for (std::size_t i = 0; i < places.size(); i += shape.size()) {
        std::uint64_t index = 0;
        for (std::size_t axis = 0; axis < shape.size(); ++axis) index = index * shape[axis] + places[i + axis];
        indices.push_back(index);
    }
    return indices;
}

} // namespace

RunningChecksum::RunningChecksum(const h5::Group& group, std::int64_t now) : value_(now) {
    for (const auto& [name, dataset] : covered_in(group)) {
        bytes_ += name.size() + 1;
        values_[name] = {bytes_, dataset.shape()};
        const bool has_any_length = dataset.type_word() == "t";
        bytes_ += has_any_length ? dataset.stored(whole(dataset.shape())).size()
                                 : h5::elements(dataset.shape()) * dataset.element_bytes();
    }
}

// Those that follow one another at once.
void RunningChecksum::change(const std::string& dataset, const std::vector<std::uint64_t>& places,
                             std::span<const char> before, std::span<const char> after) {
    if (std::equal(before.begin(), before.end(), after.begin(), after.end())) return; // or there are none
    const Values& values = values_.at(dataset);
    const std::vector<std::uint64_t> indices = indices_of(values.shape, places);
    const std::size_t bytes = before.size() / indices.size();
    for (std::size_t first = 0, end = 0; first < indices.size(); first = end) {
        for (end = first + 1; end < indices.size() && indices[end] == indices[end - 1] + 1;) ++end;
        change_at(values.begin + indices[first] * bytes, before.subspan(first * bytes, (end - first) * bytes),
                  after.subspan(first * bytes, (end - first) * bytes));
    }
}

void RunningChecksum::change_all(const std::string& dataset, std::span<const char> before,
                                 std::span<const char> after) {
    change_at(values_.at(dataset).begin, before, after);
}

void RunningChecksum::change_at(std::uint64_t begin, std::span<const char> before, std::span<const char> after) {
    value_ ^= crc32_of_change(before, after, bytes_ - begin - before.size());
}

} // namespace a2aperf
