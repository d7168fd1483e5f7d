// SPDX-License-Identifier: BSD-3-Clause
// The types of what a results file holds.
#pragma once

namespace a2aperf {

enum class ValueType { int8, int32, int64, float64, text, fixed_text };

} // namespace a2aperf
