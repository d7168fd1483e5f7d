// SPDX-License-Identifier: BSD-3-Clause
// What files of interference hold of each point.
#pragma once

#include <string>
#include <vector>

#include "a2aperf/record/columns.hpp"
#include "a2aperf/record/sample_column.hpp"

namespace a2aperf {

std::vector<Column> interference_columns();
std::vector<SampleColumn> interference_samples();

// Why a load rank was not granted its class: what the first one says that knows.
std::string load_trouble(const PointResult& result);

// Of the round trips under load.
Summary summarise_interference(const Samples& samples, const SummaryRules& rules);

} // namespace a2aperf
