// SPDX-License-Identifier: BSD-3-Clause
// What a dataset's attributes tell its readers of the values in it (docs/file-format.md).
#pragma once

#include <string_view>

#include "a2aperf/record/better.hpp"
#include "h5.hpp"

namespace a2aperf {

// units: empty = none.
void describe(const h5::Dataset& dataset, std::string_view long_name, std::string_view units = {},
              Better better = Better::none);

// Of a dataset in /raw whose second dimension is none of attempts: which column of the points tells how many of its
// values each has.
inline constexpr const char* kCountAttribute = "count";

// -1 is unknown; of integers.
void mark_unknown(const h5::Dataset& dataset, ValueType type);

} // namespace a2aperf
