// SPDX-License-Identifier: BSD-3-Clause
// Message sizes as people write them.
#pragma once

#include <string_view>
#include <vector>

#include "a2aperf/base/units.hpp"

namespace a2aperf {

// The 24 sizes of the 2019 table.
inline constexpr std::string_view kDefaultSizes = "1000..15000+1000,20000..60000+5000";

// Of `a2aperf pairs`: one size for the latency, one for the bandwidth.
inline constexpr std::string_view kDefaultPairSizes = "8,1MiB";

// Items separated by commas: "8KiB", "1000..15000+1000" (arithmetic), "1KiB..4MiB*2" (geometric). A range begins
// at its lower end and does not pass its upper one. Order is kept, doubles are dropped.
// Throws UsageError: zero (unless least, 1 or 0, says that a message may be empty), negative, overflowing,
// reversed, a step of 0 or a factor below 2, an unknown unit, more than 10000 sizes.
std::vector<Bytes> parse_sizes(std::string_view text, Bytes least = 1);

// OSU's -m: "MAX" or "MIN:MAX"; MIN (default 1) and its doubles up to MAX. Throws UsageError.
std::vector<Bytes> parse_osu_sizes(std::string_view text);

} // namespace a2aperf
