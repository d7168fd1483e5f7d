// SPDX-License-Identifier: BSD-3-Clause
// Columns of which a cell holds nothing where another column counts 0, whatever is there (GroupColumn::counted_by).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "a2aperf/stats/summary.hpp"

namespace a2aperf {

// The attribute of such a column that names the other.
inline constexpr const char* kCountedBy = "counted_by";

// NaN in the cells that hold nothing.
inline void blank_uncounted(std::vector<double>& values, const std::vector<std::int64_t>& counted) {
    for (std::size_t i = 0; i < values.size(); ++i)
        if (counted[i] == 0) values[i] = kAbsent;
}

} // namespace a2aperf
