// SPDX-License-Identifier: BSD-3-Clause
#include "resume_settings.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "a2aperf/base/error.hpp"
#include "a2aperf/base/units.hpp"

namespace a2aperf {
namespace {

using SettingValue = std::variant<std::string, std::int64_t, double>;

// An empty word is unknown, an empty name was not asked for.
enum class As { word, name, number, share, rate, time, bytes, flag, seed };

struct Setting {
    const char* option;
    const char* attribute; // of the segment
    As as;
};

constexpr Setting kMustAgree[] = {
    {"--precision", "asked_precision", As::share},
    {"--ops", "asked_ops", As::number},
    {"--min-ops", "asked_min_ops", As::number},
    {"--max-ops", "asked_max_ops", As::number},
    {"--warmup", "warmup", As::number},
    {"--poll", "poll", As::word},
    {"--memory", "memory", As::word},
    {"--order", "order", As::word},
    {"--seed", "seed", As::seed},
    {"--shuffle-ranks", "shuffle_ranks", As::flag},
    {"--from", "asked_from", As::name},
    {"--to", "asked_to", As::name},
};
// Each row says by its n and its stop_rule what it got of it.
constexpr Setting kTimeBudget{"--time-budget", "asked_time_budget", As::time};
constexpr Setting kNic{"--nic", "domain", As::word};
// The rows keep what followed from their own.
constexpr Setting kLinkRate{"--link-rate", "asked_link_rate", As::rate};
constexpr Setting kMemoryLimit{"--memory-limit", "memory_limit", As::bytes};

bool is_double(const Setting& setting) {
    return setting.as == As::share || setting.as == As::rate;
}

std::optional<SettingValue> of_file(const SegmentGroup& segment, const Setting& setting) {
    if (!segment.has(setting.attribute)) return std::nullopt;
    if (setting.as == As::word) {
        std::string word = segment.text(setting.attribute);
        return word.empty() ? std::nullopt : std::optional<SettingValue>(std::move(word)); // unknown
    }
    if (setting.as == As::name) return segment.text(setting.attribute);
    if (is_double(setting)) return segment.number(setting.attribute);
    return segment.integer(setting.attribute);
}

template <class Map>
std::optional<SettingValue> found_in(const Map& map, const char* name) {
    const auto found = map.find(name);
    return found != map.end() ? std::optional<SettingValue>(found->second) : std::nullopt;
}

std::optional<SettingValue> of_launch(const Provenance& provenance, const Setting& setting) {
    if (setting.as == As::word || setting.as == As::name) return found_in(provenance.text, setting.attribute);
    if (is_double(setting)) return found_in(provenance.numbers, setting.attribute);
    return found_in(provenance.integers, setting.attribute);
}

std::string none_of(const Setting& setting) {
    return fmt::format("no {}", setting.option);
}

// "--ops 100", "no --ops"
std::string said(const Setting& setting, const SettingValue& value) {
    if (const auto* word = std::get_if<std::string>(&value)) {
        if (word->empty()) return none_of(setting);
        const bool is_plain = std::all_of(word->begin(), word->end(), [](char c) { return c > ' ' && c <= '~'; });
        return fmt::format("{} {}", setting.option, is_plain ? *word : quote(*word));
    }
    if (const auto* number = std::get_if<double>(&value))
        return std::isnan(*number)
                   ? none_of(setting)
                   : fmt::format("{} {}{}", setting.option, *number, setting.as == As::rate ? " Gbit/s" : "");
    const std::int64_t number = std::get<std::int64_t>(value);
    if (setting.as == As::flag) return number > 0 ? setting.option : none_of(setting);
    if (setting.as == As::seed) return fmt::format("{} {}", setting.option, static_cast<std::uint64_t>(number));
    if (number < 0) return none_of(setting);
    switch (setting.as) {
    case As::time:
        return fmt::format("{} {}", setting.option, format_duration(number));
    case As::bytes:
        return fmt::format("{} {}", setting.option, format_bytes(static_cast<Bytes>(number)));
    default:
        return fmt::format("{} {}", setting.option, number);
    }
}

bool are_same(const SettingValue& there, const SettingValue& here) {
    const auto* a = std::get_if<double>(&there);
    const auto* b = std::get_if<double>(&here);
    return there == here || (a != nullptr && b != nullptr && std::isnan(*a) && std::isnan(*b));
}

struct Difference {
    std::string there, here;
};

std::optional<Difference> difference(const SegmentGroup& before, const Provenance& provenance,
                                     const Setting& setting) {
    const auto there = of_file(before, setting);
    const auto here = of_launch(provenance, setting);
    if (!there || !here || are_same(*there, *here)) return std::nullopt;
    return Difference{said(setting, *there), said(setting, *here)};
}

std::string shown_labels(std::vector<std::string> labels) {
    for (std::string& label : labels) label = quote(label);
    return labels.empty() ? "none" : fmt::format("{}", fmt::join(labels, ", "));
}

} // namespace

std::optional<std::string> setting_that_differs(const SegmentGroup& before, const Provenance& here) {
    for (const Setting& setting : kMustAgree)
        if (const auto found = difference(before, here, setting))
            return fmt::format("it was measured with {} and this launch has {}", found->there, found->here);
    return std::nullopt;
}

std::vector<std::string> tell_settings(const SegmentGroup& before, const Provenance& here,
                                       bool is_memory_limit_asked) {
    std::vector<std::string> remarks;
    const auto tell = [&](const Setting& setting) {
        if (const auto found = difference(before, here, setting))
            remarks.push_back(fmt::format("resumed with {}; the launch before had {}", found->here, found->there));
    };
    tell(kTimeBudget);
    tell(kNic);
    tell(kLinkRate);
    if (is_memory_limit_asked) tell(kMemoryLimit);
    std::vector<std::string> labels;
    for (const auto& [name, value] : here.labels) labels.push_back(fmt::format("{}={}", name, value));
    if (const auto there = before.labels(); there != labels)
        remarks.push_back(fmt::format("resumed with other labels (--label): {} instead of {}", shown_labels(labels),
                                      shown_labels(there)));
    return remarks;
}

} // namespace a2aperf
