// SPDX-License-Identifier: BSD-3-Clause
// The options that paths side by side alone have, and what they are put into.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "a2aperf/config/options.hpp"
#include "a2aperf/config/workload_row.hpp"
#include "a2aperf/plan/path.hpp"

namespace a2aperf {

struct QosOptions {
    std::vector<AskedPath> listed{}; // by --path
    std::string file{};              // --path-file
    // Of the file, which is read once, when paths are first asked for; and by all copies.
    std::shared_ptr<std::vector<AskedPath>> of_file = std::make_shared<std::vector<AskedPath>>();
    std::optional<int> count;            // --paths: so many from rank 0 to rank 1
    std::vector<TrafficClass> classes{}; // of those
    Nanoseconds duration = 30'000'000'000;
    Nanoseconds interval = 10'000'000'000;
    int most_intervals = 10'000;
};

const QosOptions& qos_options(const Options& options);
std::span<const OptionRow> qos_option_rows();

// Those that were asked for, in their order; two from rank 0 to rank 1 where none was.
std::vector<AskedPath> asked_paths(const Options& options);

// What one option says about another. Throws UsageError.
void check_qos_options(const Options& options);

} // namespace a2aperf
