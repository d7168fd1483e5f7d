// SPDX-License-Identifier: BSD-3-Clause
#include "config_file.hpp"

#include <sstream>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "a2aperf/base/text_file.hpp"
#include "a2aperf/base/utf8.hpp"
#include "a2aperf/config/values.hpp"

namespace a2aperf {
namespace {

const OptionRow& row_of_key(const CLI::ConfigItem& item, const WorkloadRow& workload, const Catalogue& catalogue) {
    if (!item.parents.empty())
        throw UsageError(fmt::format("section [{}]: sections are not used, only keys",
                                     printable(fmt::format("{}", fmt::join(item.parents, ".")))));
    if (const OptionRow* row = find_option(item.name, catalogue)) {
        const OptionRow* const own = option_of(row->name, workload);
        if (own == nullptr)
            throw UsageError(fmt::format("{} is not an option of a2aperf {}", row->name, workload.name));
        return *own;
    }
    std::vector<std::string_view> keys;
    for (const OptionRow* row : all_options(catalogue)) keys.push_back(row->name);
    const std::string_view meant = nearest_word(item.name, keys);
    throw UsageError(fmt::format("unknown key {}{}: keys are the long option names, as in sizes = \"1KiB..4MiB*2\"",
                                 quote(item.name), meant.empty() ? "" : fmt::format(" (did you mean {}?)", meant)));
}

// A quote that CLI11 leaves is one without its partner, or a '#' inside quotes, which it takes for a comment
// before 2.4.
void check_quotes(const CLI::ConfigItem& item) {
    for (const std::string& text : item.inputs)
        if (text.starts_with('"') || text.starts_with('\''))
            throw UsageError(
                fmt::format("{}: {} has no closing quote (a value cannot contain '#')", item.name, quote(text)));
}

void take(GivenOptions& given, const CLI::ConfigItem& item, const OptionRow& row) {
    check_quotes(item);
    if (item.inputs.empty()) throw UsageError(fmt::format("{}: the list is empty", item.name));
    for (const std::string& text : item.inputs)
        if (text.find('\0') != std::string::npos) // what follows it would be lost, as in the name of a file
            throw UsageError(fmt::format("{}: {} contains a NUL byte", item.name, quote(text)));
    if (given.contains(&row)) throw UsageError(fmt::format("{} is given twice", item.name));
    if (row.arity == Arity::flag) {
        if (item.inputs.size() != 1) throw UsageError(fmt::format("{}: a flag is true or false", item.name));
        if (parse_switch(item.inputs[0])) given[&row] = {};
    } else if (row.arity == Arity::perhaps && item.inputs.size() == 1 &&
               (item.inputs[0] == "true" || item.inputs[0] == "false")) {
        if (item.inputs[0] == "true") given[&row] = {};
    } else if (row.arity == Arity::one || row.arity == Arity::perhaps) {
        // CLI11 splits at commas; only a list in one word, such as a NIC map, has them here.
        given[&row] = {fmt::format("{}", fmt::join(item.inputs, ","))};
    } else {
        given[&row] = item.inputs;
    }
}

// The key that a line begins with; empty where it begins with none that there is.
std::string_view key_of(std::string_view line, const Catalogue& catalogue) {
    const std::size_t end = line.find('=');
    const std::string_view name = end == std::string_view::npos ? "" : trimmed(line.substr(0, end));
    return find_option(std::string(name), catalogue) == nullptr ? "" : name;
}

// CLI11 takes all lines up to one that ends in ']' for a list, and the last character for that bracket.
void check_lists(const std::string& text, const Catalogue& catalogue) {
    std::istringstream lines(text);
    std::string open, line;
    while (std::getline(lines, line)) {
        const std::string_view shown = trimmed(std::string_view(line).substr(0, line.find('#')));
        const std::string_view key = key_of(shown, catalogue);
        if (!open.empty() && !key.empty()) break;
        if (!key.empty() && trimmed(shown.substr(shown.find('=') + 1)).starts_with('[')) open = key;
        if (shown.ends_with(']')) open.clear();
    }
    if (!open.empty()) throw UsageError(fmt::format("{}: the list has no closing ']'", open));
}

std::string whole_text(const std::string& file) {
    constexpr Bytes kMostBytes = 1U << 20U;
    std::string text = read_text_file("--config", file, kMostBytes);
    if (text.empty()) throw UsageError(fmt::format("--config {}: the file is empty", quote(file)));
    return text;
}

} // namespace

GivenOptions read_config_file(const std::string& file, const WorkloadRow& workload, const Catalogue& catalogue) {
    const std::string text = whole_text(file);
    std::istringstream stream(text);
    GivenOptions given;
    try {
        check_lists(text, catalogue);
        const std::vector<CLI::ConfigItem> items = CLI::ConfigTOML().from_config(stream);
        for (const CLI::ConfigItem& item : items) take(given, item, row_of_key(item, workload, catalogue));
    } catch (const UsageError& error) {
        throw UsageError(fmt::format("--config {}: {}", quote(file), error.what()));
    } catch (const CLI::Error& error) {
        throw UsageError(fmt::format("--config {}: {}", quote(file), printable(error.what())));
    }
    return given;
}

} // namespace a2aperf
