// SPDX-License-Identifier: BSD-3-Clause
// The types of what a results file holds.
#pragma once

#include <cstdint>

namespace a2aperf {

enum class ValueType { int8, int32, int64, float64, text, fixed_text };

// Bytes of a text that is not known before a point was measured.
inline constexpr std::size_t kFixedTextBytes = 64;

// Bytes of a number in the file.
constexpr std::uint64_t bytes_of(ValueType number) {
    return number == ValueType::int8 ? 1 : number == ValueType::int32 ? 4 : 8;
}

} // namespace a2aperf
