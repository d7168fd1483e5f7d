// SPDX-License-Identifier: BSD-3-Clause
#include "help.hpp"

#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "a2aperf/base/version.hpp"
#include "a2aperf/config/option_table.hpp"
#include "a2aperf/plan/schedule.hpp"

namespace a2aperf {
namespace {

constexpr std::size_t kColumns = 84;
constexpr std::size_t kTextColumn = 26; // where the words about an option begin

constexpr std::string_view kGeneral =
    "General\n"
    "  --config FILE         take options from a TOML or INI file, one key for every long\n"
    "                        option: sizes = \"1KiB..4MiB*2\"; the command line takes\n"
    "                        precedence\n"
    "  -h, --help            the common options, with examples\n"
    "  --help-all            every option (this page)\n"
    "  --list                providers, modes and schedules\n"
    "  --version             version and commit\n";

constexpr std::array<std::pair<Section, std::string_view>, 5> kSections{{
    {Section::where, "Where it runs"},
    {Section::what, "What is measured"},
    {Section::how_long, "How long"},
    {Section::how, "How it is measured"},
    {Section::out, "Output"},
}};

void replace(std::string& text, std::string_view placeholder, std::string_view value) {
    const std::size_t at = text.find(placeholder);
    if (at != std::string::npos) text.replace(at, placeholder.size(), value);
}

std::string schedule_names() {
    std::string names;
    for (const Schedule& schedule : schedules())
        names += fmt::format("{}{}", names.empty() ? "" : ", ", schedule.name);
    return names;
}

// Words in lines of kColumns, the first one continuing a line that is `used` wide.
std::string wrap(std::string_view text, std::size_t used, std::size_t indent) {
    std::string lines;
    while (!text.empty()) {
        const std::string_view word = text.substr(0, text.find(' '));
        text.remove_prefix(std::min(word.size() + 1, text.size()));
        const bool is_first = used == indent;
        if (!is_first && used + 1 + word.size() > kColumns) {
            lines += '\n' + std::string(indent, ' ');
            used = indent;
        } else if (!is_first) {
            lines += ' ';
            ++used;
        }
        lines += word;
        used += word.size();
    }
    return lines + '\n';
}

std::string describe(const OptionRow& row, const Catalogue& catalogue, const WorkloadRow& workload) {
    const Options defaults = default_options(workload);
    std::string text(row.help);
    replace(text, "{providers}", fmt::format("{}", fmt::join(catalogue.providers, ", ")));
    replace(text, "{modes}",
            workload.page.modes.empty() ? fmt::format("{}", fmt::join(catalogue.modes, ", "))
                                        : fmt::format("{}", fmt::join(workload.page.modes, " or ")));
    replace(text, "{memories}", fmt::format("{}", fmt::join(catalogue.memories, " or ")));
    replace(text, "{schedules}", schedule_names());
    replace(text, "{sizes}", workload.page.sizes);
    replace(text, "{formats}", workload.page.formats);
    replace(text, "{ops}", fmt::to_string(defaults.ops));
    replace(text, "{warmup}", fmt::to_string(defaults.warmup));
    std::string names = spellings(row);
    replace(names, ",", ", ");
    const std::string value = row.arity == Arity::perhaps ? fmt::format("[{}]", row.value) : std::string(row.value);
    std::string line = fmt::format("  {}{}{}", names, value.empty() ? "" : " ", value);
    if (line.size() + 2 > kTextColumn) {
        line += '\n' + std::string(kTextColumn, ' ');
    } else {
        line.resize(kTextColumn, ' ');
    }
    return line + wrap(text, kTextColumn, kTextColumn);
}

std::string names_in_a_row(std::string_view title, const std::vector<std::string>& names) {
    const std::string joined = fmt::format("{}", fmt::join(names, " "));
    return fmt::format("{}\n  {}\n", title, joined);
}

// The introduction, and how the command is typed. The first workload's page is the program's own.
std::string beginning(const Catalogue& catalogue, const WorkloadRow& workload) {
    std::string text = fmt::format("{}\nUsage:  mpirun -n RANKS a2aperf {} [OPTION]...\n",
                                   workload.page.introduction, workload.name);
    if (&workload != catalogue.workloads.front()) return text;
    for (const WorkloadRow* other : catalogue.workloads)
        if (other != &workload)
            text +=
                fmt::format("        mpirun -n RANKS a2aperf {} [OPTION]...    {}\n", other->name, other->usage);
    return text + "        a2aperf providers        what this node offers, and why the rest is missing\n";
}

} // namespace

std::string help_text(const Catalogue& catalogue, const WorkloadRow& workload) {
    std::string text = beginning(catalogue, workload) + "\nCommon options\n";
    for (const OptionRow* row : options_of(workload))
        if (row->audience == Audience::daily) text += describe(*row, catalogue, workload);
    return text + fmt::format("\n{}\n{}", workload.page.examples, workload.page.farewell);
}

std::string help_all_text(const Catalogue& catalogue, const WorkloadRow& workload) {
    std::string text = beginning(catalogue, workload);
    for (const auto& [section, title] : kSections) {
        text += fmt::format("\n{}\n", title);
        for (const OptionRow* row : options_of(workload))
            if (row->section == section) text += describe(*row, catalogue, workload);
    }
    return text + fmt::format("\n{}\n{}", kGeneral, workload.page.examples);
}

std::string providers_help_text() {
    return "Usage:  a2aperf providers [-v | --verbose | --variables]\n"
           "\n"
           "Shows what libfabric offers on this node, one provider per line: endpoint types, modes,\n"
           "inject size, largest message, link rate, NIC and its NUMA node; and why the other\n"
           "providers are missing. It opens no endpoint and needs no mpirun.\n"
           "\n"
           "  -v, --verbose    also the queues and limits of each, and what the devices and this\n"
           "                   node say of themselves (RDMA devices: as ibv_devinfo -v); what is\n"
           "                   unknown is called so\n"
           "  --variables      instead: the environment variables that libfabric and its providers\n"
           "                   know, what each is for, and what it is set to\n";
}

std::string list_text(const Catalogue& catalogue) {
    std::vector<std::string> providers{"auto"};
    providers.insert(providers.end(), catalogue.providers.begin(), catalogue.providers.end());
    std::string text = names_in_a_row("providers (a2aperf providers shows which are here)", providers);
    text += names_in_a_row("modes", catalogue.modes);
    text += "schedules\n";
    for (const Schedule& schedule : schedules()) {
        text += fmt::format("  {:<13} ", schedule.name);
        text += wrap(schedule.formula, 16, 16);
    }
    return text;
}

std::string version_text() {
    return fmt::format("a2aperf {} ({})\n", program_version(), program_commit());
}

} // namespace a2aperf
