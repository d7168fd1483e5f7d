// SPDX-License-Identifier: BSD-3-Clause
// The options that an all-to-all alone has, and what they are put into.
#pragma once

#include <algorithm>
#include <any>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "a2aperf/config/options.hpp"
#include "a2aperf/config/workload_row.hpp"
#include "a2aperf/plan/point.hpp"
#include "a2aperf/plan/traffic_pattern.hpp"

namespace a2aperf {

struct AllToAllOptions {
    std::vector<TrafficPattern> patterns;       // none: uniform
    bool redraws = false;                       // what is drawn of them is, for each op
    std::vector<Bytes> chunks{0};               // 0 = whole messages
    std::vector<int> endpoints{1};              // of each rank
    std::vector<Queues> queues{Queues::each};   // of several endpoints
    std::vector<Threads> threads{Threads::one}; // of several endpoints
    std::optional<Nanoseconds> search;          // how long the best setting may be looked for
    std::string default_mode_only; // a mode that is there for the default setting alone; empty = none is
};

inline AllToAllOptions& alltoall_options(Options& options) {
    return std::any_cast<AllToAllOptions&>(options.own);
}
inline const AllToAllOptions& alltoall_options(const Options& options) {
    return std::any_cast<const AllToAllOptions&>(options.own);
}

std::span<const OptionRow> alltoall_option_rows();

// What one option says about another. Throws UsageError.
void check_alltoall_options(const Options& options);

// By which points differ: nothing where the launch has one way.
inline std::vector<std::optional<PollingWay>> polls_of(const Options& options) {
    return options.polls.size() > 1 ? options.polls : std::vector<std::optional<PollingWay>>{std::nullopt};
}

// In any of the points. usual: where the launch has one way.
inline bool is_yielding(const Options& options, const PollingWay& usual) {
    const auto is_spinning = [](const std::optional<PollingWay>& way) {
        return way && way->polling == Polling::spin;
    };
    return options.polls.size() > 1 ? !std::ranges::all_of(options.polls, is_spinning) : !is_spinning(usual);
}

} // namespace a2aperf
