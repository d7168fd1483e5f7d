// SPDX-License-Identifier: BSD-3-Clause
// What a file of `a2aperf open-loop` holds of each point, and how it follows from the samples.
#pragma once

#include <vector>

#include "a2aperf/record/columns.hpp"
#include "a2aperf/record/sample_column.hpp"

namespace a2aperf {

std::vector<Column> open_loop_columns();
std::vector<SampleColumn> open_loop_samples();

} // namespace a2aperf
