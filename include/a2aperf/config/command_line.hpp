// SPDX-License-Identifier: BSD-3-Clause
// From argv (and --config FILE) to Options.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "a2aperf/config/options.hpp"

namespace a2aperf {

// What the command line offers by name; the tables live in their layers and are passed in.
struct Catalogue {
    std::vector<std::string> providers;
    std::vector<std::string> modes;
};

struct ParsedCommandLine {
    Options options;
    std::optional<std::string> answer; // --help, --version, --list …: print it and exit with 0
};

// Throws UsageError for everything that is wrong, CLI11's own findings included.
ParsedCommandLine parse_command_line(int argc, const char* const* argv, const Catalogue& catalogue);

} // namespace a2aperf
