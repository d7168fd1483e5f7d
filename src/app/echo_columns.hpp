// SPDX-License-Identifier: BSD-3-Clause
// What a file of round trips holds of each point, and how it follows from the samples.
#pragma once

#include <vector>

#include "a2aperf/record/columns.hpp"
#include "a2aperf/record/sample_column.hpp"

namespace a2aperf {

std::vector<Column> echo_columns();
std::vector<SampleColumn> echo_samples();

// Of the round trips that are kept of all clients; the shortest and the longest are those of all.
Summary summarise_echo(const Samples& samples, const SummaryRules& rules);

} // namespace a2aperf
