// SPDX-License-Identifier: BSD-3-Clause
#include "options_text.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "property.hpp"
#include "support/catalogue.hpp"

namespace a2aperf::fuzz {
namespace {

constexpr int kMostOps = 10'000'000;
constexpr int kMostRanks = 1'000'000;

template <class T>
std::string text_of(const std::optional<T>& value) {
    return value ? fmt::format("{}", *value) : "none";
}

std::string text_of(const std::vector<std::pair<std::string, std::string>>& pairs) {
    std::string text;
    for (const auto& [name, value] : pairs) text += fmt::format("{}={};", name, value);
    return text;
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

} // namespace

std::string text_of(const Options& o) {
    std::string schedules;
    for (const Schedule* schedule : o.schedules) schedules += fmt::format("{},", schedule->name);
    std::string windows;
    for (const Window& window : o.windows) windows += window.text() + ",";
    std::string polls;
    for (const std::optional<PollingWay>& way : o.polls) polls += (way ? way->text() : "auto") + ",";
    std::string attachments;
    for (const auto& file : o.attachments) attachments += file.string() + ",";
    std::string text = fmt::format("{} {} {} | {} | {} | {} | {} {} {} {} {} |", o.workload, o.provider, o.nic,
                                   fmt::join(o.sizes, ","), fmt::join(o.modes, ","), schedules, windows,
                                   static_cast<int>(o.order), o.seed, o.shuffle_ranks, o.with_mpi_baseline);
    text += fmt::format("{} {} {} {} {} {} |", o.ops, o.warmup, text_of(o.precision), o.min_ops, o.max_ops,
                        text_of(o.time_budget));
    text +=
        fmt::format("{} {} {} {} {} {} {} {} {} {} |", static_cast<int>(o.sync), static_cast<int>(o.post),
                    static_cast<int>(o.complete_at), static_cast<int>(o.percentile), polls,
                    fmt::join(o.memories, ","), text_of(o.memory_limit), o.timeout, o.verify_only, o.with_sentinel);
    text += fmt::format("{} {} {} {} {} {} {} {} {} {}", o.output ? o.output->string() : "none",
                        static_cast<int>(o.overwrite), text_of(o.labels), text_of(o.required_environment),
                        attachments, static_cast<int>(o.format), o.is_quiet, o.is_dry_run, text_of(o.ranks),
                        text_of(o.ranks_per_node));
    return text;
}

void require_sound(const Options& o) {
    const std::string text = text_of(o);
    require(!o.sizes.empty() && o.sizes.size() <= 10'000, "1 to 10000 sizes", text);
    for (const Bytes size : o.sizes) require(size >= 1, "a message has at least 1 byte", text);
    require(!o.modes.empty() && !o.schedules.empty() && !o.windows.empty(), "no axis is empty", text);
    for (const std::string& mode : o.modes)
        require(contains(test::catalogue().modes, mode), "a mode is one of those there are", text);
    for (const Window& window : o.windows) {
        require(window.messages >= 0 && window.messages <= kMostRanks, "0 to 1000000 in a window", text);
        require(window.messages == 0 || window.bytes == 0, "a window is in messages or in bytes", text);
        require(window.of(1) >= 0 && window.of(~Bytes{0}) <= kMostRanks, "as many in force", text);
    }
    const std::string core = o.provider.substr(0, o.provider.find(';'));
    require(core == "auto" || contains(test::catalogue().providers, core), "a provider is one of those there are",
            text);
    for (const std::optional<PollingWay>& way : o.polls)
        require(!way || ((way->polling == Polling::throttle) == (way->throttle >= 1) && way->throttle <= 1000),
                "a throttle in its range", text);
    require(!o.nic.empty(), "a NIC has a name", text);
    require(o.ops >= 1 && o.ops <= kMostOps && o.warmup >= 0 && o.warmup <= kMostOps, "ops in their range", text);
    require(o.min_ops >= 6 && o.min_ops <= o.max_ops && o.max_ops <= kMostOps, "min-ops up to max-ops", text);
    require(!o.precision || (*o.precision >= 0.0001 && *o.precision <= 0.5), "a precision in its range", text);
    require(o.timeout > 0 && o.time_budget.value_or(1) > 0, "times are positive", text);
    require(o.memory_limit.value_or(1) > 0, "a memory limit is positive", text);
    require(!o.output || !o.output->empty(), "an output has a name", text);
    require(o.overwrite != Overwrite::resume || o.output, "what is resumed has a name", text);
    require(o.ranks.value_or(2) >= 2 && o.ranks.value_or(2) <= kMostRanks, "ranks in their range", text);
    for (const auto& [name, value] : o.labels) require(!name.empty(), "a label has a name", text);
    for (const auto& [name, value] : o.required_environment) require(!name.empty(), "a variable has a name", text);
}

} // namespace a2aperf::fuzz
