// SPDX-License-Identifier: BSD-3-Clause
// The columns that synthetic points have: those of an all-to-all.
#pragma once

#include <vector>

#include "a2aperf/record/columns.hpp"

namespace a2aperf::test {

inline const std::vector<Column> kColumns = columns_with(rate_columns());
inline const Schema kSchema{"alltoall", "all-to-all", kColumns};

} // namespace a2aperf::test
