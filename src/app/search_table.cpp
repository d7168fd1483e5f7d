// SPDX-License-Identifier: BSD-3-Clause
#include "search_table.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "a2aperf/base/units.hpp"
#include "a2aperf/plan/window.hpp"
#include "search_plan.hpp"

namespace a2aperf {
namespace {

constexpr std::string_view kOfOneLaunch =
    "the figures are of this launch alone, and launches differ by more: confirm what matters with several";

// Three digits, more of them would be noise: also of what is far below 1.
std::string rate_text(double value) {
    if (std::isnan(value)) return "-";
    if (value < 0.9995) return value > 0 ? fmt::format("{:#.3g}", value) : "0";
    return fmt::format("{:.{}f}", value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0);
}

// Thousandths where it is near 1, and three digits beyond.
std::string factor_text(double value) {
    return value < 9.995 && value >= 0.0995 ? fmt::format("{:.3f}", value) : rate_text(value);
}

std::string verdict_of(const Found& one) {
    if (one.is_usual()) return "the default";
    switch (one.times.verdict()) {
    case Verdict::faster:
        return "faster";
    case Verdict::slower:
        return "slower";
    case Verdict::undecided:
        break;
    }
    return one.times.interval ? "undecided" : "undecided: too few ops";
}

// What the column "default" is where the default itself cannot be measured.
std::vector<std::string> stand_ins(std::span<const Found> found) {
    std::vector<std::string> lines;
    for (const Found& one : found)
        if (!is_default(one.usual))
            lines.push_back(fmt::format("at {} B the default is skipped: {} stands for it", one.usual.message_size,
                                        setting_of(one.usual)));
    return lines;
}

std::string interval_of(const Found& one) {
    if (one.is_usual() || !one.times.interval) return "-";
    return fmt::format("{} to {}", factor_text(one.times.interval->low), factor_text(one.times.interval->high));
}

// Sizes at which each setting was found faster, by the order of the sizes.
using Faster = std::vector<std::pair<std::string, std::vector<const Found*>>>;

Faster by_setting(std::span<const Found> found) {
    Faster settings;
    for (const Found& one : found) {
        if (!one.is_faster()) continue;
        const std::string name = setting_of(one.best);
        auto at = std::ranges::find(settings, name, &Faster::value_type::first);
        if (at == settings.end()) at = settings.insert(at, {name, {}});
        at->second.push_back(&one);
    }
    std::ranges::stable_sort(settings, [](const auto& a, const auto& b) {
        if (a.second.size() != b.second.size()) return a.second.size() > b.second.size();
        return a.second.back()->best.message_size > b.second.back()->best.message_size;
    });
    return settings;
}

std::vector<Bytes> sizes_of(const std::vector<const Found*>& all) {
    std::vector<Bytes> sizes;
    for (const Found* one : all) sizes.push_back(one->best.message_size);
    return sizes;
}

} // namespace

bool Found::is_usual() const {
    return setting_of(usual) == setting_of(best);
}

std::string setting_of(const Point& point) {
    // The same at every size: not into how many chunks it cuts a message.
    const std::string chunk = point.chunk == 0 ? "" : fmt::format(" chunk {}", Window{0, point.chunk}.text());
    return fmt::format("{} {} window {}{}{}{}", point.mode, point.schedule_name(), point.asked_window(), chunk,
                       point.endpoint_words(), point.polling_words());
}

std::string search_table(std::span<const Found> found) {
    std::size_t widest = std::string_view("best found").size();
    for (const Found& one : found) widest = std::max(widest, setting_of(one.best).size());
    const auto row = [widest](std::string_view size, std::string_view best, const auto&... others) {
        return fmt::format("{:>10}  {:<{}} ", size, best, widest) +
               fmt::format("{:>8} {:>8} {:>8}  {:<18} {:>5}  {}\n", others...);
    };
    std::string text =
        row("# size B", "best found", "Gbit/s", "default", "times", "95 % interval", "n", "against the default");
    for (const Found& one : found)
        text += row(std::to_string(one.best.message_size), setting_of(one.best), rate_text(one.best_gbps),
                    rate_text(one.usual_gbps), one.times.interval ? factor_text(one.times.ratio) : "-",
                    interval_of(one), one.ops, verdict_of(one));
    return text;
}

std::vector<std::string> search_words(std::span<const Found> found) {
    std::vector<std::string> lines;
    for (const auto& [name, at] : by_setting(found))
        lines.push_back(fmt::format("{} was faster than the default at {} of {}", name, at.size(),
                                    counted(std::ssize(found), "size")));
    if (lines.empty() && !found.empty())
        lines.emplace_back("no setting was found to be faster than the default at any size");
    std::ranges::copy(stand_ins(found), std::back_inserter(lines));
    const auto compared =
        std::ranges::count_if(found, [](const Found& one) { return !one.is_usual() && one.times.interval; });
    if (compared > 1) lines.push_back(fmt::format("the intervals hold for all {} comparisons together", compared));
    if (compared > 0) lines.emplace_back(kOfOneLaunch);
    return lines;
}

std::string search_config(std::span<const Found> found, const std::string& provider, const std::string& results,
                          const PollingWay& usual) {
    std::string text =
        fmt::format("# Found by a2aperf alltoall --search in one launch; the measurements: {}\n", results);
    for (const Found& one : found)
        text += fmt::format("# {} B: {}, {}\n", one.best.message_size, setting_of(one.best),
                            one.is_faster()
                                ? fmt::format("{:.2f} times as fast as {}", one.times.ratio, setting_of(one.usual))
                                : verdict_of(one));
    const Faster settings = by_setting(found);
    const Point& chosen = settings.empty() ? found.front().usual : settings.front().second.front()->best;
    std::vector<Bytes> sizes;
    if (settings.empty())
        for (const Found& one : found) sizes.push_back(one.best.message_size);
    else
        sizes = sizes_of(settings.front().second);
    text +=
        fmt::format("provider = \"{}\"\nsizes = \"{}\"\nmode = \"{}\"\nschedule = \"{}\"\nwindow = \"{}\"\n",
                    provider, fmt::join(sizes, ","), chosen.mode, chosen.schedule_name(), chosen.asked_window());
    if (chosen.chunk > 0) text += fmt::format("chunk = \"{}\"\n", Window{0, chosen.chunk}.text());
    if (chosen.channels > 1) text += fmt::format("endpoints = \"{}\"\n", chosen.channels);
    if (chosen.queues == Queues::one) text += "queues = \"one\"\n";
    if (chosen.threads == Threads::each) text += "threads = \"each\"\n";
    // Another launch may spin by itself: it need not have the points for which this one did not.
    const PollingWay way = chosen.polling.value_or(usual);
    if (chosen.polling || way.polling != Polling::spin) text += fmt::format("poll = \"{}\"\n", way.text());
    return text;
}

} // namespace a2aperf
