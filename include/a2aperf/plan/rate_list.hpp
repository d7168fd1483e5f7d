// SPDX-License-Identifier: BSD-3-Clause
// Rates of messages as people write them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace a2aperf {

inline constexpr std::int64_t kMostRate = 1'000'000'000; // per second: a message each nanosecond

// Per second, separated by commas: "10000", "10k", "1.5M", "1k..10k+1k" (arithmetic), "1k..1M*2" (geometric); k is
// 1000, M 1000000. Throws UsageError: zero, negative, not whole, above kMostRate, and as parse_numbers().
std::vector<std::int64_t> parse_rates(std::string_view text);

// "10k", "1500", "2M": exact.
std::string format_rate(std::int64_t rate);

} // namespace a2aperf
