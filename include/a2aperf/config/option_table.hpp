// SPDX-License-Identifier: BSD-3-Clause
// Every option of the commands that measure: one row each, from which the command line, the --config file, the help
// and the tests are made.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "a2aperf/config/catalogue.hpp"
#include "a2aperf/config/options.hpp"

namespace a2aperf {

enum class Section { where, what, how_long, how, out };
enum class Arity { flag, one, several };
enum class Audience { daily, all }; // in --help, or in --help-all only
enum class Serves { both, alltoall, pairs };

struct OptionRow {
    std::string_view name;    // "sizes": --sizes, and the key in a --config file
    std::string_view alias{}; // another spelling, e.g. "-i" or "--domain"
    std::string_view value{}; // what the help calls its value; empty for a flag
    Section section;
    Arity arity = Arity::one;
    Audience audience = Audience::all;
    Serves serves = Serves::both;
    std::string_view exclusive{}; // of the rows with the same word here only one may be given
    std::string_view example{};   // a value that is right; empty for a flag
    std::string_view help;        // {providers}, {modes} and {schedules} stand for the names there are; {sizes},
                                  // {ops}, {warmup} and {formats} for what the command at hand has
    // Puts the values (one, unless several; none for a flag) into the options; throws UsageError without the
    // option's name.
    void (*set)(Options& options, std::span<const std::string> values, const Catalogue& catalogue);
};

std::span<const OptionRow> option_table();

bool serves(const OptionRow& row, Command command);

// Null when there is none. Name is without dashes; a long alias counts.
const OptionRow* find_option(std::string_view name);

// "-i,--ops", as CLI11 wants it.
std::string spellings(const OptionRow& row);

} // namespace a2aperf
