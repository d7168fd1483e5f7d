// SPDX-License-Identifier: BSD-3-Clause
// Points of paths side by side as text, as they come. table: a line for each path, each class and all of them; qos:
// the published lines, one for each path and interval.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "a2aperf/stats/shared_part.hpp"
#include "duration_workload.hpp"
#include "qos_columns.hpp"

namespace a2aperf {

// The intervals of a point that was measured, in this launch or before; empty but on rank 0, which has the file.
using StoredIntervals = std::function<std::vector<std::vector<PathInterval>>(const Point& point)>;

// What became of the class of each path of such a point.
using StoredClasses = std::function<std::vector<PathClass>(const Point& point)>;

// title: "2 ranks, 1 node, tcp". tells_memory: of each point. duration, interval: as asked for.
std::unique_ptr<DurationTable> make_qos_table(Format format, std::string title, StoredIntervals intervals,
                                              StoredClasses granted, bool tells_memory, Nanoseconds duration,
                                              Nanoseconds interval, std::int64_t most_intervals);

// Where shares rest on so few intervals that a2a tells no interval of them: with what they would not. Empty where
// they rest on more. fewest: of all points with shares.
// most_intervals: as many are kept of a path.
std::string few_intervals(int fewest, Nanoseconds duration, Nanoseconds interval, std::int64_t most_intervals);

// What is remarkable of a point, a sentence each: paths that got nothing, and since when; that no share is the
// fabric's. is_cut: there were more intervals than are kept (--max-samples).
std::vector<std::string> remarks_on(const std::vector<std::vector<PathInterval>>& intervals,
                                    const std::vector<Path>& paths, bool is_cut);

} // namespace a2aperf
