// SPDX-License-Identifier: BSD-3-Clause
// What `a2aperf interference` can be asked for: who the victims are, what loads them, and in which phases.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "a2aperf/config/option_table.hpp"
#include "a2aperf/config/options.hpp"
#include "a2aperf/plan/interference_plan.hpp"

namespace a2aperf {

struct InterferenceOptions {
    std::optional<StreamPairs> victims; // else by the placement
    std::optional<Placement> placement;
    VictimKind victim_kind = VictimKind::echo;
    std::optional<int> victim_window;
    TrafficClass load_class;
    LoadPattern pattern = LoadPattern::all_to_all;
    std::vector<int> levels{0, 50, 100}; // %
    Bytes load_size = 65536;
    int load_window = 8;
    Nanoseconds gap = 500'000;
    Phases phases{.length = 500'000'000, .alternations = 10};
};

const InterferenceOptions& interference_options(const Options& options);
std::span<const OptionRow> interference_option_rows();
// What they say of each other. Throws UsageError.
void check_interference_options(const Options& options);

} // namespace a2aperf
