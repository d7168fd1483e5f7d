// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/plan/rate_list.hpp"

#include <charconv>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "a2aperf/base/error.hpp"
#include "number_list.hpp"

namespace a2aperf {
namespace {

constexpr std::pair<char, std::int64_t> kRateUnits[] = {{'M', 1'000'000}, {'k', 1000}};

std::uint64_t parse_rate(std::string_view text) {
    std::string_view number = text;
    while (number.starts_with(' ')) number.remove_prefix(1);
    std::int64_t factor = 1;
    for (const auto& [letter, thousands] : kRateUnits)
        if (number.ends_with(letter)) {
            factor = thousands;
            number.remove_suffix(1);
            break;
        }
    double value = 0;
    const auto [end, error] =
        std::from_chars(number.data(), number.data() + number.size(), value, std::chars_format::fixed);
    const double rate = value * static_cast<double>(factor);
    const double whole = std::round(rate);
    if (error != std::errc() || end != number.data() + number.size() || !(rate >= 0) ||
        rate > static_cast<double>(kMostRate) || std::abs(rate - whole) > 1e-9 * whole || std::signbit(value))
        throw UsageError(fmt::format("rate {} is not a whole number of messages per second up to {}: write for "
                                     "example 10000, 10k or 1.5M",
                                     quote(text), format_rate(kMostRate)));
    return static_cast<std::uint64_t>(whole);
}

constexpr NumberKind kRates{.one = "rate",
                            .all = "rates",
                            .of_nothing = "a message is due at least once a second",
                            .least_step = "1",
                            .arithmetic = "1k..10k+1k",
                            .geometric = "1k..1M*2",
                            .list = "10k or 1k..1M*2",
                            .parse = parse_rate};

} // namespace

std::vector<std::int64_t> parse_rates(std::string_view text) {
    const std::vector<std::uint64_t> rates = parse_numbers(kRates, text, 1);
    return {rates.begin(), rates.end()};
}

std::string format_rate(std::int64_t rate) {
    for (const auto& [letter, thousands] : kRateUnits)
        if (rate > 0 && rate % thousands == 0) return fmt::format("{}{}", rate / thousands, letter);
    return fmt::format("{}", rate);
}

} // namespace a2aperf
