// SPDX-License-Identifier: BSD-3-Clause
#include "checksum.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "counted.hpp"
#include "crc32.hpp"
#include "describe.hpp"
#include "parts.hpp"

namespace a2aperf {
namespace {

using Named = std::pair<std::string, h5::Dataset>;

// Ascending by name, as bytes.
std::vector<Named> datasets_of(const h5::Group& group) {
    std::vector<std::string> names = group.children();
    std::sort(names.begin(), names.end());
    std::vector<Named> datasets;
    for (std::string& name : names) {
        if (group.has_group(name.c_str())) continue;
        h5::Dataset dataset = group.open_dataset(name.c_str());
        datasets.emplace_back(std::move(name), std::move(dataset));
    }
    return datasets;
}

// Those with a value, or more, of each point; the others are dimension scales and names.
std::vector<Named> of_points(const h5::File& file, const char* group) {
    if (!file.has(group)) return {};
    std::vector<Named> datasets = datasets_of(file.open_group(group));
    std::erase_if(datasets, [](const Named& one) { return one.second.shape().size() < 2; });
    for (Named& one : datasets) one.first = fmt::format("{}/{}", group, one.first);
    return datasets;
}

h5::Block row_of(const h5::Dataset& dataset, int point) {
    h5::Block row = whole(dataset.shape());
    row.offset.front() = static_cast<std::uint64_t>(point);
    row.count.front() = 1;
    return row;
}

void add(Crc32& crc, const std::string& name, const h5::Dataset& dataset, const h5::Block& block) {
    crc.add_text(name);
    in_parts(block, dataset.element_bytes(), [&](const h5::Block& part) { crc.add(dataset.stored(part)); });
}

// What holds nothing counts as NaN, so that a file need not have it everywhere.
void add_counted(Crc32& crc, const std::string& name, const h5::Dataset& dataset, const h5::Dataset& counts) {
    counts.require_shape(dataset.shape());
    crc.add_text(name);
    in_parts(whole(dataset.shape()), sizeof(double), [&](const h5::Block& part) {
        std::vector<double> values = dataset.read<double>(part);
        blank_uncounted(values, counts.read<std::int64_t>(part));
        crc.add({reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double)});
    });
}

std::string count_of(const h5::Dataset& samples) {
    return samples.has_attribute(kCountAttribute) ? samples.text_attribute(kCountAttribute) : "attempts";
}

} // namespace

PointChecksums::PointChecksums(const h5::File& file, int points) {
    const h5::Shape row_each{static_cast<std::uint64_t>(points)};
    columns_ = datasets_of(file);
    std::erase_if(columns_, [&](const Named& one) {
        return one.first == "point" || one.first == "state" || one.first == "checksum" ||
               one.second.shape() != row_each;
    });
    for (auto& [name, dataset] : of_points(file, "raw")) {
        const std::string count = count_of(dataset);
        samples_.push_back({std::move(name), std::move(dataset), count});
        if (counts_.contains(count)) continue;
        h5::Dataset column = file.open_dataset(count.c_str());
        column.require_shape(row_each);
        counts_.emplace(count, std::move(column));
    }
    counters_ = of_points(file, "counters");
}

std::int64_t PointChecksums::of(int point) const {
    Crc32 crc;
    for (const auto& [name, column] : columns_) add(crc, name, column, row_of(column, point));
    std::map<std::string, std::int64_t> counts;
    for (const auto& [name, column] : counts_)
        counts[name] = std::max<std::int64_t>(column.read<std::int64_t>(row_of(column, point)).front(), 0);
    for (const OfSamples& samples : samples_) {
        h5::Block made = row_of(samples.dataset, point);
        made.count[1] = std::min(made.count[1], static_cast<std::uint64_t>(counts.at(samples.count)));
        add(crc, samples.name, samples.dataset, made);
    }
    for (const auto& [name, counters] : counters_) add(crc, name, counters, row_of(counters, point));
    return crc.value();
}

std::int64_t checksum_of(const h5::Dataset& column) {
    Crc32 crc;
    in_parts(whole(column.shape()), column.element_bytes(),
             [&](const h5::Block& part) { crc.add(column.stored(part)); });
    return crc.value();
}

std::vector<Named> covered_in(const h5::Group& group) {
    std::vector<Named> datasets = datasets_of(group);
    std::erase_if(datasets, [](const Named& one) { return one.first == "checksum"; });
    return datasets;
}

std::int64_t checksum_of(const h5::Group& group, const std::map<std::string, std::vector<char>>& uniform) {
    Crc32 crc;
    for (const auto& [name, dataset] : covered_in(group)) {
        if (const auto found = uniform.find(name); found != uniform.end()) {
            crc.add_text(name);
            crc.add_repeated(found->second, h5::elements(dataset.shape()));
        } else if (dataset.has_attribute(kCountedBy)) {
            add_counted(crc, name, dataset, group.open_dataset(dataset.text_attribute(kCountedBy).c_str()));
        } else {
            add(crc, name, dataset, whole(dataset.shape()));
        }
    }
    return crc.value();
}

} // namespace a2aperf
