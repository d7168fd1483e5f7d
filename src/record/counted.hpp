// SPDX-License-Identifier: BSD-3-Clause
// Columns of which a cell holds nothing where another column counts 0, whatever is there (GroupColumn::counted_by).
#pragma once

#include <vector>

#include "a2aperf/stats/summary.hpp"
#include "h5.hpp"

namespace a2aperf {

// The attribute of such a column that names the other.
inline constexpr const char* kCountedBy = "counted_by";

// NaN in the cells of a part of it that hold nothing.
inline void blank_uncounted(std::vector<double>& values, const h5::Dataset& counts, const h5::Block& part) {
    const std::vector<std::int64_t> counted = counts.read<std::int64_t>(part);
    for (std::size_t i = 0; i < values.size(); ++i)
        if (counted[i] == 0) values[i] = kAbsent;
}

} // namespace a2aperf
