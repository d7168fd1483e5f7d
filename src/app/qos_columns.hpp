// SPDX-License-Identifier: BSD-3-Clause
// What the file holds of paths side by side.
#pragma once

#include <vector>

#include "a2aperf/plan/paths_plan.hpp"
#include "a2aperf/plan/plan.hpp"
#include "a2aperf/record/columns.hpp"
#include "a2aperf/record/recorder.hpp"
#include "a2aperf/stats/shared_part.hpp"

namespace a2aperf {

// What the provider granted of a class, and what the receiver saw of it; empty: nothing. trouble: why it was not
// granted.
struct PathClass {
    std::string granted, seen, trouble;
};

std::vector<Column> qos_columns();
std::vector<SampleColumn> qos_samples();

// /paths: a row a path of the plan, with room for so many intervals of each.
GroupDeclaration qos_group(const Plan& plan, int intervals);

// Of a point that was measured.
std::vector<std::vector<PathInterval>> intervals_of(const Samples& samples, const Point& point);
// The same as the file has them, which has room for so many of a path.
std::vector<std::vector<PathInterval>> stored_intervals(const Recorder& recorder, const Point& point, int most);
std::vector<PathClass> stored_classes(const Recorder& recorder, const Point& point);
// NaN where the start does not carry it: no rate follows then.
double time_of(const SharedPart& shared, double clock_error_ns);
SharedPart shared_part_of(const Samples& samples, const Point& point);

} // namespace a2aperf
