// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/plan/traffic_class.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "a2aperf/base/error.hpp"

namespace a2aperf {
namespace {

// In the order of libfabric's labels, FI_TC_BEST_EFFORT and those behind it.
constexpr std::array<std::string_view, 6> kClassNames{"best-effort", "low-latency", "dedicated-access",
                                                      "bulk",        "scavenger",   "network-control"};
constexpr std::string_view kDscp = "dscp", kLevel = "sl";
constexpr int kMostDscp = 63, kMostLevel = 15;

// "dscp46": 46 for the word dscp; nothing where the text is none of these.
std::optional<int> number_behind(std::string_view word, std::string_view text, int most) {
    if (!text.starts_with(word)) return std::nullopt;
    const std::string_view digits = text.substr(word.size());
    int number = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (digits.empty() || error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
    if (number < 0 || number > most)
        throw UsageError(fmt::format("class {}: {} goes from 0 to {}", quote(text), word, most));
    return number;
}

} // namespace

TrafficClass TrafficClass::parse(std::string_view text) {
    if (const auto found = std::ranges::find(kClassNames, text); found != kClassNames.end())
        return {Kind::named, static_cast<int>(found - kClassNames.begin())};
    if (const auto dscp = number_behind(kDscp, text, kMostDscp)) return {Kind::dscp, *dscp};
    if (const auto level = number_behind(kLevel, text, kMostLevel)) return {Kind::service_level, *level};
    throw UsageError(fmt::format("unknown class {}: expected {}, a DSCP as in dscp46, or a service level as in sl1",
                                 quote(text), fmt::join(kClassNames, ", ")));
}

std::string TrafficClass::text() const {
    switch (kind) {
    case Kind::none:
        break;
    case Kind::named:
        return std::string(kClassNames.at(static_cast<std::size_t>(value)));
    case Kind::dscp:
        return fmt::format("{}{}", kDscp, value);
    case Kind::service_level:
        return fmt::format("{}{}", kLevel, value);
    }
    return {};
}

} // namespace a2aperf
