// SPDX-License-Identifier: BSD-3-Clause
// How long the two ways of round trips took, each by itself: figures where the clocks carry them.
#pragma once

#include <vector>

#include "a2aperf/record/columns.hpp"

namespace a2aperf {

// Whether the clocks tell the ways of this point apart.
bool tells_both_ways(const PointResult& result);
// Whether they do not, of a point that has a bound: of an echo, and not of an older file.
bool lacks_ways(const PointResult& result);

std::vector<Column> way_columns();

} // namespace a2aperf
