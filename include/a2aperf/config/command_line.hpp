// SPDX-License-Identifier: BSD-3-Clause
// From argv (and --config FILE) to Options.
#pragma once

#include <optional>
#include <string>

#include "a2aperf/config/catalogue.hpp"
#include "a2aperf/config/options.hpp"

namespace a2aperf {

// What "a2aperf providers" shows.
enum class ProvidersPage { table, details, variables };

struct ParsedCommandLine {
    Options options;
    std::optional<ProvidersPage> providers; // of that command, which is no workload
    std::optional<std::string> answer;      // --help, --version, --list …: print it and exit with 0
};

// Throws UsageError for everything that is wrong, CLI11's own findings included. Needs neither MPI nor a fabric.
ParsedCommandLine parse_command_line(int argc, const char* const* argv, const Catalogue& catalogue);

} // namespace a2aperf
