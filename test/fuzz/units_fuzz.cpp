// SPDX-License-Identifier: BSD-3-Clause
// Sizes and durations as people write them (src/base/units.cpp).
#include <cmath>
#include <cstdint>
#include <limits>

#include <fmt/format.h>

#include "a2aperf/base/units.hpp"
#include "property.hpp"

using namespace a2aperf;
using fuzz::is_accepted;
using fuzz::require;

namespace {

constexpr auto kLargest = static_cast<Bytes>(std::numeric_limits<std::int64_t>::max());

// What is printed can be read again, and says the same within its three digits.
void check_bytes(Bytes bytes) {
    require(bytes <= kLargest, "a size is at most 2^63 - 1", fmt::to_string(bytes));
    require(parse_bytes(fmt::to_string(bytes)) == bytes, "a number of bytes is read as it is",
            fmt::to_string(bytes));
    const std::string shown = format_bytes(bytes);
    constexpr Bytes kLargestNamed = 999'000'000'000'000; // above it are PB and EB, which nobody types
    if (bytes > kLargestNamed || shown.ends_with("PiB") || shown.ends_with("PB")) return;
    const auto again = static_cast<double>(parse_bytes(shown));
    const auto exact = static_cast<double>(bytes);
    require(std::fabs(again - exact) <= 0.0051 * exact, "what is shown is the size", shown);
}

void check_duration(Nanoseconds duration) {
    require(duration >= 0, "a duration is not negative", fmt::to_string(duration));
    require(parse_duration(fmt::format("{}ns", duration)) == duration, "nanoseconds are read as they are");
    require(test::is_one_clear_line(format_duration(duration)), "a duration is shown in one line");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    Bytes bytes = 0;
    if (is_accepted([&] { bytes = parse_bytes(text); })) check_bytes(bytes);
    Nanoseconds duration = 0;
    if (is_accepted([&] { duration = parse_duration(text); })) check_duration(duration);
    return 0;
}
