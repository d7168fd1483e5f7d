// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/base/units.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <span>

#include <fmt/format.h>

#include "a2aperf/base/error.hpp"
#include "a2aperf/base/utf8.hpp"

namespace a2aperf {
namespace {

__extension__ using Wide = unsigned __int128;

struct Unit {
    std::string_view name;
    std::uint64_t factor;
};

// A kind of quantity: what to call it and how it may be written.
struct Kind {
    std::string_view noun;
    std::string_view smallest; // its indivisible part
    std::string_view way_out;  // ends every error message
    std::span<const Unit> units;
    std::uint64_t plain_factor; // of a number without unit
    bool ignores_case;          // of units
};

// In small letters: of sizes they make no difference. K, M, G and T alone are binary, as OSU's benchmarks and iperf
// have them.
constexpr std::array kByteUnits{
    Unit{"b", 1},
    Unit{"k", 1ULL << 10},
    Unit{"ki", 1ULL << 10},
    Unit{"kib", 1ULL << 10},
    Unit{"kb", 1'000},
    Unit{"m", 1ULL << 20},
    Unit{"mi", 1ULL << 20},
    Unit{"mib", 1ULL << 20},
    Unit{"mb", 1'000'000},
    Unit{"g", 1ULL << 30},
    Unit{"gi", 1ULL << 30},
    Unit{"gib", 1ULL << 30},
    Unit{"gb", 1'000'000'000},
    Unit{"t", 1ULL << 40},
    Unit{"ti", 1ULL << 40},
    Unit{"tib", 1ULL << 40},
    Unit{"tb", 1'000'000'000'000},
};

constexpr std::array kTimeUnits{
    Unit{"ns", 1},
    Unit{"us", 1'000},
    Unit{"\u00b5s", 1'000},
    Unit{"ms", 1'000'000},
    Unit{"s", 1'000'000'000},
    Unit{"min", 60'000'000'000},
    Unit{"h", 3'600'000'000'000},
};

constexpr Kind kSize{
    "size",
    "byte",
    "write for example 1000, 60kB or 4MiB (decimal: kB MB GB TB; binary: KiB MiB GiB TiB or K M G T)",
    kByteUnits,
    1,
    true};
constexpr Kind kDuration{"duration", "nanosecond",  "write for example 500ms, 2s, 3min or 1h (ns us ms s min h)",
                         kTimeUnits, 1'000'000'000, false};

[[noreturn]] void refuse(const Kind& kind, std::string_view text, std::string_view why) {
    throw UsageError(fmt::format("{} {} {}: {}", kind.noun, quote(text), why, kind.way_out));
}

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

// The digits at the front of text, which loses them.
std::string_view take_digits(std::string_view& text) {
    const auto end = static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is_digit) - text.begin());
    const std::string_view digits = text.substr(0, end);
    text.remove_prefix(end);
    return digits;
}

std::uint64_t factor_of(const Kind& kind, std::string_view text, std::string_view unit) {
    if (unit.empty()) return kind.plain_factor;
    std::string name(unit);
    if (kind.ignores_case)
        std::transform(name.begin(), name.end(), name.begin(),
                       [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    const auto found =
        std::find_if(kind.units.begin(), kind.units.end(), [&](const Unit& u) { return u.name == name; });
    if (found == kind.units.end()) refuse(kind, text, fmt::format("has the unknown unit {}", quote(unit)));
    return found->factor;
}

// Exact: no floating point, so that 0.1GB is 100000000 B and 1.5B is an error.
std::int64_t parse_quantity(const Kind& kind, std::string_view text) {
    constexpr Wide kLargest = std::numeric_limits<std::int64_t>::max();
    constexpr std::size_t kMostDecimals = 18; // 10^18 x the largest factor fits in 128 bits

    std::string_view rest = trimmed(text);
    if (rest.empty()) refuse(kind, text, "is empty");
    if (rest.front() == '-') refuse(kind, text, "is negative");
    if (!is_digit(rest.front())) refuse(kind, text, "does not start with a number");

    const std::string_view whole_digits = take_digits(rest);
    std::string_view decimals;
    if (!rest.empty() && rest.front() == '.') {
        rest.remove_prefix(1);
        decimals = take_digits(rest);
        if (decimals.empty()) refuse(kind, text, "has no digit after the decimal point");
        while (!decimals.empty() && decimals.back() == '0') decimals.remove_suffix(1);
    }
    const std::uint64_t factor = factor_of(kind, text, trimmed(rest));

    Wide whole = 0;
    for (const char c : whole_digits) {
        whole = whole * 10 + static_cast<unsigned>(c - '0');
        if (whole > kLargest) refuse(kind, text, "is too large");
    }
    const std::string broken = fmt::format("is not a whole number of {}s", kind.smallest);
    if (decimals.size() > kMostDecimals) refuse(kind, text, broken);
    Wide fraction = 0;
    Wide scale = 1;
    for (const char c : decimals) {
        fraction = fraction * 10 + static_cast<unsigned>(c - '0');
        scale *= 10;
    }
    if (fraction * factor % scale != 0) refuse(kind, text, broken);
    const Wide value = whole * factor + fraction * factor / scale;
    if (value > kLargest) refuse(kind, text, "is too large");
    return static_cast<std::int64_t>(value);
}

constexpr std::array<std::string_view, 7> kDecimalNames{"B", "kB", "MB", "GB", "TB", "PB", "EB"};
constexpr std::array<std::string_view, 7> kBinaryNames{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};

// Three significant digits of 0 < value < 999.5, with the zeros: they tell a rounded value from an exact one.
std::string three_digits(double value) {
    if (value < 9.995) return fmt::format("{:.2f}", value);
    if (value < 99.95) return fmt::format("{:.1f}", value);
    return fmt::format("{:.0f}", value);
}

} // namespace

Bytes parse_bytes(std::string_view text) {
    return static_cast<Bytes>(parse_quantity(kSize, text));
}

Nanoseconds parse_duration(std::string_view text) {
    return parse_quantity(kDuration, text);
}

std::string format_bytes(Bytes bytes) {
    if (bytes == 0) return "0 B";
    Bytes significant = bytes;
    while (significant % 10 == 0) significant /= 10;
    Bytes multiple = bytes;
    std::size_t doublings = 0;
    while (multiple % 1024 == 0) {
        multiple /= 1024;
        ++doublings;
    }
    const bool is_short_decimal = significant < 1000;
    if (!is_short_decimal && doublings > 0 && multiple < 1024) {
        return fmt::format("{} {}", multiple, kBinaryNames[doublings]);
    }
    auto value = static_cast<double>(bytes);
    std::size_t thousands = 0;
    while (value >= (is_short_decimal ? 1000 : 999.5)) {
        value /= 1000;
        ++thousands;
    }
    const std::string digits = is_short_decimal ? fmt::format("{:g}", value) : three_digits(value);
    return fmt::format("{} {}", digits, kDecimalNames[thousands]);
}

std::string format_duration(Nanoseconds duration) {
    constexpr Nanoseconds kSecond = 1'000'000'000;
    if (duration < 0) {
        return fmt::format("-{}", format_duration(-std::max(duration, -std::numeric_limits<Nanoseconds>::max())));
    }
    if (duration < 1000) return fmt::format("{} ns", duration);
    const auto ns = static_cast<double>(duration);
    if (ns < 999.5e3) return fmt::format("{:.3g} \u00b5s", ns / 1e3);
    if (ns < 999.5e6) return fmt::format("{:.3g} ms", ns / 1e6);
    if (ns < 59.95e9) return fmt::format("{:.3g} s", ns / 1e9);
    const Nanoseconds seconds = duration / kSecond + (duration % kSecond >= kSecond / 2 ? 1 : 0);
    if (seconds < 3600) return fmt::format("{} min {:02} s", seconds / 60, seconds % 60);
    const Nanoseconds minutes = (seconds + 30) / 60;
    return fmt::format("{} h {:02} min", minutes / 60, minutes % 60);
}

std::string format_estimate(Nanoseconds duration) {
    Nanoseconds unit = 1;
    while (duration / unit >= 100) unit *= 10;
    const Nanoseconds rest = duration % unit;
    std::string text = format_duration(duration - rest + (rest >= (unit + 1) / 2 ? unit : 0));
    for (const std::string_view zeros : {" 00 s", " 00 min"})
        if (text.ends_with(zeros)) text.resize(text.size() - zeros.size());
    return text;
}

std::string format_gbps(double gbps) {
    int decimals = 2;
    for (double least = 0.1; gbps > 0 && gbps < least && decimals < 9; least /= 10) ++decimals;
    return fmt::format("{:.{}f}", gbps, decimals);
}

std::string counted(std::int64_t count, std::string_view noun) {
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

} // namespace a2aperf
