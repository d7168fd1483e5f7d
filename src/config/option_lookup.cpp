// SPDX-License-Identifier: BSD-3-Clause
// The table's options with those that workloads have of their own.
#include <algorithm>

#include <fmt/format.h>

#include "a2aperf/config/option_table.hpp"
#include "a2aperf/config/workload_row.hpp"

namespace a2aperf {

std::vector<const OptionRow*> all_options(const Catalogue& catalogue) {
    std::vector<const OptionRow*> rows;
    for (const OptionRow& row : common_options()) rows.push_back(&row);
    for (const WorkloadRow* workload : catalogue.workloads)
        for (const OptionRow& row : workload->options)
            if (std::ranges::find(rows, row.name, &OptionRow::name) == rows.end()) rows.push_back(&row);
    return rows;
}

std::vector<const OptionRow*> options_of(const WorkloadRow& workload) {
    std::vector<const OptionRow*> rows;
    for (const OptionRow& row : common_options())
        if (row.serves == Serves::every ||
            std::find(workload.takes.begin(), workload.takes.end(), row.name) != workload.takes.end())
            rows.push_back(&row);
    for (const OptionRow& row : workload.options) rows.push_back(&row);
    std::stable_sort(rows.begin(), rows.end(),
                     [](const OptionRow* a, const OptionRow* b) { return a->section < b->section; });
    return rows;
}

const OptionRow* option_of(std::string_view name, const WorkloadRow& workload) {
    const auto rows = options_of(workload);
    const auto found = std::ranges::find(rows, name, &OptionRow::name);
    return found != rows.end() ? *found : nullptr;
}

bool serves(const OptionRow& row, const WorkloadRow& workload) {
    return option_of(row.name, workload) != nullptr;
}

std::string spellings(const OptionRow& row) {
    if (row.alias.empty()) return fmt::format("--{}", row.name);
    return row.alias.starts_with("--") ? fmt::format("--{},{}", row.name, row.alias)
                                       : fmt::format("{},--{}", row.alias, row.name);
}

const OptionRow* find_option(std::string_view name, const Catalogue& catalogue) {
    for (const OptionRow* row : all_options(catalogue))
        if (row->name == name || (row->alias.starts_with("--") && row->alias.substr(2) == name)) return row;
    return nullptr;
}

} // namespace a2aperf
