// SPDX-License-Identifier: BSD-3-Clause
// The options of the workloads: one row each, from which the command line, the --config file, the help and the
// tests are made. An option that one workload alone has is in its own row (workload_row.hpp).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "a2aperf/config/catalogue.hpp"
#include "a2aperf/config/options.hpp"

namespace a2aperf {

enum class Section { where, what, how_long, how, out };
enum class Arity { flag, one, several, perhaps }; // perhaps: a flag that may have a value
enum class Audience { daily, all };               // in --help, or in --help-all only
enum class Serves { every, some };                // workload; some name it in their row

struct OptionRow {
    std::string_view name;    // "sizes": --sizes, and the key in a --config file
    std::string_view alias{}; // another spelling, e.g. "-i" or "--domain"
    std::string_view value{}; // what the help calls its value; empty for a flag
    Section section;
    Arity arity = Arity::one;
    Audience audience = Audience::all;
    Serves serves = Serves::every;
    std::string_view exclusive{}; // of the rows with the same word here only one may be given
    std::string_view example{};   // a value that is right; empty for a flag
    std::string_view help;        // {providers}, {modes}, {memories} and {schedules} stand for the names there are;
                                  // {sizes}, {ops}, {warmup} and {formats} for what the workload at hand has
    // Puts the values (one, unless several; none for a flag) into the options; throws UsageError without the
    // option's name.
    void (*set)(Options& options, std::span<const std::string> values, const Catalogue& catalogue);
};

// Of the table alone.
std::span<const OptionRow> common_options();

// Of every workload: the table's, then those that workloads have of their own. Of several by one name the first.
std::vector<const OptionRow*> all_options(const Catalogue& catalogue);

// Of one workload, in the order of the sections.
std::vector<const OptionRow*> options_of(const WorkloadRow& workload);

// Null when the workload has none by that name.
const OptionRow* option_of(std::string_view name, const WorkloadRow& workload);

// Whether it has one by the row's name.
bool serves(const OptionRow& row, const WorkloadRow& workload);

// Null when there is none. Name is without dashes; a long alias counts.
const OptionRow* find_option(std::string_view name, const Catalogue& catalogue);

// "-i,--ops", as CLI11 wants it.
std::string spellings(const OptionRow& row);

} // namespace a2aperf
