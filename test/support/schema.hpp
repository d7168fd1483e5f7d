// SPDX-License-Identifier: BSD-3-Clause
// The columns that synthetic points have: those of an all-to-all.
#pragma once

#include <vector>

#include "a2aperf/record/columns.hpp"

namespace a2aperf::test {

inline const std::vector<Column> kColumns = columns_with(rate_columns());
inline const std::vector<SampleColumn> kSamples = samples_with({});
inline const Schema kSchema{
    .workload = "alltoall", .subject = "all-to-all", .columns = kColumns, .samples = kSamples, .block = 10};

} // namespace a2aperf::test
