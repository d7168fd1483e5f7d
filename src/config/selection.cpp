// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/config/selection.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "a2aperf/base/error.hpp"
#include "a2aperf/config/values.hpp"

namespace a2aperf {
namespace {

void require_known(std::string_view what, std::string_view name, const std::vector<std::string>& known) {
    if (std::find(known.begin(), known.end(), name) == known.end())
        throw_unknown(what, name, std::vector<std::string_view>(known.begin(), known.end()));
}

// A number alone is one of messages.
Window parse_window(const std::string& text) {
    if (text == "all") return {};
    if (text.find_first_not_of("0123456789") == std::string::npos) return {parse_int(text, 1, kMostRanks), 0};
    if (text.find_first_of("0123456789") != 0)
        throw UsageError(fmt::format("{} is neither 'all' nor a whole number of messages nor a size such as 256KiB",
                                     quote(text)));
    const Window window{0, parse_bytes(text)};
    if (window.bytes == 0) throw UsageError(fmt::format("{} is not a size above zero", quote(text)));
    return window;
}

} // namespace

std::string parse_provider(std::string_view text, const Catalogue& catalogue) {
    const auto& known = catalogue.providers;
    const std::string core(text.substr(0, text.find(';')));
    if (text == "auto" || std::find(known.begin(), known.end(), core) != known.end()) return std::string(text);
    std::vector<std::string_view> names{"auto"};
    names.insert(names.end(), known.begin(), known.end());
    throw_unknown("provider", text, names);
}

std::string parse_nic(std::string_view text) {
    if (text.empty()) throw UsageError("the name of the NIC is empty");
    const std::size_t digits = text.find_first_not_of("0123456789");
    const bool is_map = digits != 0 && digits != std::string_view::npos && text[digits] == ':';
    if (!is_map) {
        std::vector<std::string> names = split_list(std::vector{std::string(text)}); // without doubles
        if (fmt::format("{}", fmt::join(names, ",")) != text)
            throw UsageError(fmt::format("{} names a NIC twice", quote(text)));
        for (const std::string_view word : {"nearest", "all"})
            if (names.size() > 1 && std::ranges::find(names, word) != names.end())
                throw UsageError(fmt::format("{} is not a list of NICs: {} stands alone", quote(text), word));
        return std::string(text);
    }
    for (const std::string& item : split_list(std::vector{std::string(text)})) {
        const std::size_t colon = item.find(':');
        if (colon == std::string::npos || colon + 1 == item.size())
            throw UsageError(fmt::format("{} is not RANK:NIC", quote(item)));
        parse_count(item.substr(0, colon), 0, kMostRanks);
    }
    return std::string(text);
}

std::vector<std::string> parse_memories(std::span<const std::string> values, const Catalogue& catalogue) {
    std::vector<std::string> kinds = split_list(values);
    for (const std::string& kind : kinds) require_known("kind of memory", kind, catalogue.memories);
    return kinds;
}

std::vector<std::string> parse_modes(std::span<const std::string> values, const Catalogue& catalogue) {
    std::vector<std::string> modes = split_list(values);
    for (const std::string& mode : modes) require_known("mode", mode, catalogue.modes);
    return modes;
}

std::vector<const Schedule*> parse_schedules(std::span<const std::string> values) {
    std::vector<const Schedule*> found;
    for (const std::string& name : split_list(values)) found.push_back(&find_schedule(name));
    return found;
}

std::vector<Window> parse_windows(std::span<const std::string> values) {
    return each_once(values, parse_window);
}

std::vector<int> parse_endpoints(std::span<const std::string> values) {
    constexpr int kMost = 64;
    return each_once(values, [](std::string_view text) { return parse_int(text, 1, kMost); });
}

std::vector<Queues> parse_queues(std::span<const std::string> values) {
    return each_once(values, [](std::string_view text) {
        return choose<Queues>("queues", text, {{"each", Queues::each}, {"one", Queues::one}});
    });
}

std::vector<Threads> parse_threads(std::span<const std::string> values) {
    return each_once(values, [](std::string_view text) {
        return choose<Threads>("threads", text, {{"one", Threads::one}, {"each", Threads::each}});
    });
}

std::vector<Bytes> parse_chunks(std::span<const std::string> values) {
    return each_once(values, [](std::string_view text) {
        if (text != "whole" && text.find_first_of("0123456789") != 0)
            throw UsageError(fmt::format("{} is neither 'whole' nor a size such as 64KiB", quote(text)));
        const Bytes chunk = text == "whole" ? 0 : parse_bytes(text);
        if (chunk == 0 && text != "whole")
            throw UsageError(fmt::format("{} is not a size above zero", quote(text)));
        return chunk;
    });
}

std::vector<std::optional<PollingWay>> parse_polls(std::span<const std::string> values) {
    static constexpr std::string_view kThrottle = "throttle=";
    constexpr int kMostPolls = 1000; // deadlines and signals are looked at once in so many
    return each_once(values, [](std::string_view text) -> std::optional<PollingWay> {
        if (text.starts_with(kThrottle))
            return PollingWay{Polling::throttle,
                              static_cast<unsigned>(parse_int(text.substr(kThrottle.size()), 1, kMostPolls))};
        return choose<std::optional<PollingWay>>("polling", text,
                                                 {{"auto", std::nullopt},
                                                  {"spin", PollingWay{Polling::spin}},
                                                  {"yield", PollingWay{Polling::yield}},
                                                  {"block", PollingWay{Polling::block}},
                                                  {"throttle=N", std::nullopt}});
    });
}

} // namespace a2aperf
