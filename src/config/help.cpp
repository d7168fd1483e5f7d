// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/config/help.hpp"

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

constexpr std::string_view kIntroduction =
    "a2aperf measures all-to-all bandwidth between MPI ranks on raw libfabric endpoints\n"
    "and keeps every sample of every rank in one HDF5 file.\n"
    "\n"
    "Usage:  mpirun -n RANKS a2aperf alltoall [OPTION]...\n"
    "        mpirun -n RANKS a2aperf pairs [OPTION]...    every pair of ranks: finds weak links\n"
    "        a2aperf providers        what this node offers, and why the rest is missing\n";

// test/cli runs each of them.
constexpr std::string_view kExamples =
    "Examples\n"
    "  mpirun -n 4 a2aperf alltoall\n"
    "      24 message sizes, 100 ops each, over the best provider available\n"
    "  mpirun -n 4 a2aperf alltoall --provider tcp --sizes 1KiB..1MiB*2 -o tcp.h5\n"
    "      powers of two over one provider, into a file of that name\n"
    "  mpirun -n 2 a2aperf alltoall --sizes 60000 --schedule shift,naive --window 1,all\n"
    "      a sweep: every schedule with every window\n"
    "  mpirun -n 2 a2aperf alltoall --sizes 8KiB --baseline mpi --precision 2% --time-budget 9s\n"
    "      compared with MPI_Alltoall; as many ops as 2% needs, at most 9 s per point\n"
    "  a2aperf alltoall --dry-run --ranks 320 --ranks-per-node 4\n"
    "      what a large run would need, without running it\n";

constexpr std::string_view kFarewell =
    "More\n"
    "  a2aperf alltoall --help-all    every option\n"
    "  a2aperf --list                 providers, modes and schedules\n"
    "  a2a --help                     analyse the files: tables, plots, comparisons, a report\n";

constexpr std::string_view kPairsIntroduction =
    "a2aperf pairs measures the bandwidth and the latency of every ordered pair of ranks, in\n"
    "steps in which each rank sends to one other and receives from one. A rank that is slow in\n"
    "all its pairs sends or receives slowly; a pair that is slow by itself is a weak link.\n"
    "Outliers are measured again with all other ranks idle.\n"
    "\n"
    "Usage:  mpirun -n RANKS a2aperf pairs [OPTION]...\n";

constexpr std::string_view kPairsExamples =
    "Examples\n"
    "  mpirun -n 4 a2aperf pairs\n"
    "      all 12 pairs at 8 B and at 1 MiB, over the best provider available\n"
    "  mpirun -n 4 a2aperf pairs --provider tcp --sizes 64KiB --ops 50 -o tcp.h5\n"
    "      one size over one provider, with more ops for a more precise median\n"
    "  mpirun -n 3 a2aperf pairs --steps 1 --suspects 0 --format csv\n"
    "      one step only, nothing measured twice, CSV with one line per pair\n"
    "  a2aperf pairs --dry-run --ranks 10240 --ranks-per-node 32\n"
    "      the memory and time it would need, without running it\n";

constexpr std::string_view kPairsFarewell =
    "More\n"
    "  a2aperf pairs --help-all    every option\n"
    "  a2aperf alltoall --help     the whole all-to-all\n"
    "  a2a --help                  analyse the files: the matrix as a figure, the findings\n";

// What differs between the commands that measure.
struct Page {
    std::string_view introduction, examples, farewell, sizes, formats;
};

Page page_of(Command command) {
    if (command == Command::pairs)
        return {kPairsIntroduction, kPairsExamples, kPairsFarewell, "8,1MiB, for latency and bandwidth",
                "table, csv or json (one line per pair)"};
    return {kIntroduction, kExamples, kFarewell, "the 24 sizes 1000..15000+1000,20000..60000+5000",
            "table, wide, compat (as in 2019), csv or json"};
}

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

std::string describe(const OptionRow& row, const Catalogue& catalogue, Command command) {
    const Options defaults = default_options(command);
    std::string text(row.help);
    replace(text, "{providers}", fmt::format("{}", fmt::join(catalogue.providers, ", ")));
    replace(text, "{modes}", fmt::format("{}", fmt::join(catalogue.modes, ", ")));
    replace(text, "{schedules}", schedule_names());
    replace(text, "{sizes}", page_of(command).sizes);
    replace(text, "{formats}", page_of(command).formats);
    replace(text, "{ops}", fmt::to_string(defaults.ops));
    replace(text, "{warmup}", fmt::to_string(defaults.warmup));
    std::string names = spellings(row);
    replace(names, ",", ", ");
    std::string line = fmt::format("  {}{}{}", names, row.value.empty() ? "" : " ", row.value);
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

} // namespace

std::string help_text(const Catalogue& catalogue, Command command) {
    const Page page = page_of(command);
    std::string text = fmt::format("{}\nCommon options\n", page.introduction);
    for (const OptionRow& row : option_table())
        if (row.audience == Audience::daily && serves(row, command)) text += describe(row, catalogue, command);
    return text + fmt::format("\n{}\n{}", page.examples, page.farewell);
}

std::string help_all_text(const Catalogue& catalogue, Command command) {
    const Page page = page_of(command);
    std::string text(page.introduction);
    for (const auto& [section, title] : kSections) {
        text += fmt::format("\n{}\n", title);
        for (const OptionRow& row : option_table())
            if (row.section == section && serves(row, command)) text += describe(row, catalogue, command);
    }
    return text + fmt::format("\n{}\n{}", kGeneral, page.examples);
}

std::string providers_help_text() {
    return "Usage:  a2aperf providers\n"
           "\n"
           "Shows what libfabric offers on this node, one provider per line: endpoint types, modes,\n"
           "inject size, largest message, link rate, NIC and its NUMA node; and why the other\n"
           "providers are missing. It opens no endpoint and needs no mpirun.\n";
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
