// SPDX-License-Identifier: BSD-3-Clause
#include "strangers.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "a2aperf/base/error.hpp"
#include "counter_group.hpp"

namespace a2aperf {
namespace {

// What every results file has.
bool is_common(const std::string& name, const Schema& schema) {
    return name == "point" || name == "checksum" || name == "digest" || name == "raw" || name == "counters" ||
           name == "segments" || schema.has(name);
}

[[noreturn]] void refuse(const std::string& path, const std::string& name) {
    throw UsageError(
        fmt::format("{} holds {}, which this a2aperf doesn't know and would lose: use the newer version "
                    "that wrote it",
                    path, quote(name)));
}

template <class IsKnown>
void require_known_in(const h5::File& file, const std::string& path, const char* group, IsKnown is_known) {
    for (const std::string& name : file.open_group(group).children())
        if (!is_known(name)) refuse(path, fmt::format("{}/{}", group, name));
}

bool is_known_sample(const std::string& name, const Schema& schema) {
    return name == "attempt" || name == "rank" || name == "source" || (name == "tick" && schema.has(kTickCount)) ||
           (name == "bucket" && schema.has(kBucketCount)) ||
           std::any_of(schema.samples.begin(), schema.samples.end(), [&](const auto& s) { return s.name == name; });
}

bool is_number(const std::string& name) {
    return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// An older program's words are the first of ours.
void require_known_words(const h5::File& file, const std::string& path, const Column& column) {
    const std::string name(column.name);
    if (column.flags.empty() || !file.has(name.c_str()) || file.has_group(name.c_str())) return;
    const h5::Dataset dataset = file.open_dataset(name.c_str());
    if (!dataset.has_attribute("flag_meanings")) return;
    const std::string there = dataset.text_attribute("flag_meanings");
    const std::string ours = fmt::format("{} ", fmt::join(column.flags, " "));
    if (ours.starts_with(there + " ")) return;
    refuse(path, fmt::format("{}: {}", name, there.starts_with(ours) ? there.substr(ours.size()) : there));
}

bool is_declared(const std::string& name, const GroupDeclaration& group) {
    const auto has = [&](const auto& list) {
        return std::any_of(list.begin(), list.end(), [&](const auto& one) { return one.name == name; });
    };
    return name == "checksum" || has(group.columns) || has(group.dimensions);
}

void copy_attributes_of(const h5::Object& from, const h5::Object& to) {
    for (const std::string& name : from.attributes())
        if (!to.has_attribute(name.c_str())) from.copy_attribute(to, name.c_str());
}

} // namespace

void require_known_members(const h5::File& file, const std::string& path, const Schema& schema) {
    if (!schema.former_sample.empty() && file.open_group("raw").has(std::string(schema.former_sample).c_str()))
        throw UsageError(
            fmt::format("{} can't be resumed: it is of an older a2aperf, which called samples {} that have "
                        "another name now. Name a new file with -o",
                        path, quote(std::string(schema.former_sample))));
    for (const std::string& name : file.children()) // groups may be a workload's
        if (!is_common(name, schema) && !file.has_group(name.c_str())) refuse(path, name);
    for (const Column& column : schema.columns) require_known_words(file, path, column);
    require_known_in(file, path, "raw", [&](const std::string& name) { return is_known_sample(name, schema); });
    require_known_in(file, path, "counters", CounterGroup::knows);
    require_known_in(file, path, "segments", is_number);
}

void require_known_groups(const h5::File& file, const Schema& schema,
                          const std::optional<GroupDeclaration>& declared) {
    for (const std::string& name : file.children())
        if (!is_common(name, schema) && (!declared || name != declared->name)) refuse(file.where(), name);
    if (!declared || !file.has_group(declared->name.c_str())) return;
    require_known_in(file, file.where(), declared->name.c_str(),
                     [&](const std::string& name) { return is_declared(name, *declared); });
}

// NOLINTNEXTLINE(misc-no-recursion): as deep as the groups that this program makes
void copy_attributes(const h5::Group& from, const h5::Group& to) {
    copy_attributes_of(from, to);
    for (const std::string& name : to.children()) {
        const char* const child = name.c_str();
        if (!from.has(child) || from.has_group(child) != to.has_group(child)) continue;
        if (to.has_group(child))
            copy_attributes(from.open_group(child), to.open_group(child));
        else
            copy_attributes_of(from.open_dataset(child), to.open_dataset(child));
    }
}

} // namespace a2aperf
