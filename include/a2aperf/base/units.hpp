// SPDX-License-Identifier: BSD-3-Clause
// Sizes, times and rates: the types, and how people write them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace a2aperf {

using Bytes = std::uint64_t;
using Nanoseconds = std::int64_t;
constexpr double kMicroseconds = 1e-3; // in a nanosecond: times are kept in these and shown in those
using Rank = int;

// "1000", "60kB" (1e3), "4MiB" (2^20), "1.5GB"; decimal: B kB MB GB TB, binary: KiB MiB GiB TiB (also Ki, Mi, Gi,
// Ti and K, M, G, T); in small letters, too. Throws UsageError naming the text and the units there are; a fraction
// of a byte, a negative number and anything above 2^63 - 1 are errors.
Bytes parse_bytes(std::string_view text);

// "500ms", "2s", "3min", "1.5h"; units ns us ms s min h, a plain number is seconds. Throws UsageError: negative,
// a fraction of a nanosecond, above 2^63 - 1 ns.
Nanoseconds parse_duration(std::string_view text);

// Decimal where three digits say it exactly (60 kB, 128 kB), else binary where a whole multiple does (8 KiB,
// 4 MiB), else decimal rounded to three digits (1.23 GB).
std::string format_bytes(Bytes bytes);

// "35 ns", "1.23 µs", "950 ms", "12.3 s", "4 min 05 s", "2 h 10 min".
std::string format_duration(Nanoseconds duration);

// What was estimated, to two digits: "180 ms", "1 min 50 s", "13 min".
std::string format_estimate(Nanoseconds duration);

// Gbit/s, without the unit: two decimals, and two figures of what these would hide: "35.39", "0.0010"; up to nine.
std::string format_gbps(double gbps);

// "1 point", "2 points"
std::string counted(std::int64_t count, std::string_view noun);

} // namespace a2aperf
