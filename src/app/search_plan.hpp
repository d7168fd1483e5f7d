// SPDX-License-Identifier: BSD-3-Clause
// What --search tries first: each setting at each message size. Pure: the same on all ranks, and without MPI.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "alltoall_options.hpp"
#include "workload.hpp"

namespace a2aperf {

inline constexpr Nanoseconds kSearchTime = 300'000'000'000;

// What is tried: of all of these the values that are given.
inline constexpr std::string_view kSearched =
    "--mode, --schedule, --window, --chunk, --endpoints, --threads or --poll";

// Of what a setting is made of: tagged, shift, any number of messages at once.
bool is_default(const Point& point);

// Throws UsageError for options that a search can't follow.
void check_search(const Options& options);

// Axes that were not given get the usual values to search, and --ops more of them; the default setting's mode is
// among the modes.
void widen_axes(Options& options, const std::vector<std::string>& modes);

// One point of the role `search` for each setting and size, skipped ones with their reason, the default setting
// first; measured size by size. Left out is what makes the same ops as another: a window that never holds back,
// a schedule that uniform traffic or two ranks make shift. Usual settings of options that are not given
// (usual_settings.hpp) are there where their fewest ops fit into the time of --search, too. Throws UsageError where
// one setting alone is left.
Plan plan_search(const Options& options, const Layout& layout, const Workload::Skip& skip);

// Throws UsageError where --search is shorter than the fewest ops of all its points are thought to take; says what
// fits.
void require_time(const Options& options, const Plan& first, int ranks);

// Of the points that are measured, by their message size: indices, the default setting's first where it is there.
std::map<Bytes, std::vector<int>> by_size(const Plan& plan);

} // namespace a2aperf
