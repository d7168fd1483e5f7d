// SPDX-License-Identifier: BSD-3-Clause
// What a workload says to the command line: its name, its options, its page of help. The rows live with the
// workloads and are passed in with the catalogue.
#pragma once

#include <span>
#include <string_view>

#include "a2aperf/config/option_table.hpp"
#include "a2aperf/config/options.hpp"

namespace a2aperf {

struct HelpPage {
    std::string_view introduction, examples, farewell;
    std::string_view sizes, formats;           // what --sizes is by default, and what --format can be
    std::span<const std::string_view> modes{}; // those of --mode, where they are not all
};

struct WorkloadRow {
    std::string_view name;                   // as it is typed
    std::string_view purpose;                // "finds weak links"
    std::string_view usage;                  // what the program's page, which is the first one's, says of it
    std::span<const std::string_view> takes; // of the table's options that are not every workload's
    std::span<const OptionRow> options;      // that no other workload has; they set what is in Options::own
    HelpPage page;

    void (*set_defaults)(Options& options); // what differs from those of Options
    void (*check)(const Options& options);  // what one option says about another; throws UsageError
    // What follows from all that were given, once they are checked.
    void (*settle)(Options& options, const Catalogue& catalogue) = nullptr;
};

// What the workload does without options.
Options default_options(const WorkloadRow& workload);

} // namespace a2aperf
