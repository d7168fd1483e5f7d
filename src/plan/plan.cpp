// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/plan/plan.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "a2aperf/base/random.hpp"
#include "point_trouble.hpp"

namespace a2aperf {
namespace {

using Skip = std::function<std::optional<std::string>(const Point&)>;

using Traffics = std::vector<std::shared_ptr<const Traffic>>;

// At every message size, sizes running fastest; null where it is uniform.
Traffics traffics_of(const Axes& axes, const Layout& layout) {
    if (axes.traffics.empty()) return Traffics(axes.sizes.size());
    Traffics all;
    int index = 0;
    for (const TrafficPattern& pattern : axes.traffics) {
        if (pattern.is_uniform()) {
            all.resize(all.size() + axes.sizes.size());
            continue;
        }
        if (axes.redraws && pattern.is_drawn()) {
            const auto draws = std::make_shared<TrafficDraws>(pattern, layout, axes.seed);
            for (const Bytes size : axes.sizes)
                all.push_back(std::make_shared<Traffic>(pattern.name() + "/op", index, draws, layout, size));
            index += draws->count();
            continue;
        }
        const auto matrix = std::make_shared<TrafficMatrix>(pattern.matrix(layout, axes.seed));
        for (const Bytes size : axes.sizes)
            all.push_back(std::make_shared<Traffic>(pattern.name(), index, matrix, layout, size));
        ++index;
    }
    return all;
}

// Of each traffic by its index; none where the schedule makes none of it.
using StepsOf = std::map<int, std::shared_ptr<const MessageSteps>>;

StepsOf steps_of(const Schedule& schedule, const Traffics& traffics) {
    StepsOf all;
    for (const auto& traffic : traffics) {
        if (schedule.of_matrix == nullptr || !traffic) continue;
        auto& steps = all[traffic->index()];
        if (!steps) steps = std::make_shared<MessageSteps>(schedule.of_matrix(traffic->matrix()));
    }
    return all;
}

// How messages are moved, without the messages: windows are not in force before their size is known.
struct Setting {
    Point point;
    Window window;
};

std::vector<Setting> settings_of(const Axes& axes) {
    std::vector<Setting> settings;
    Point point;
    point.own_role = axes.own_role;
    point.post = axes.with_baseline ? Post::inside : axes.post;
    for (const std::string& mode : axes.modes) {
        point.mode = mode;
        for (const Schedule* schedule : axes.schedules) {
            point.schedule = schedule;
            for (const Window& window : axes.windows) {
                for (const Bytes chunk : axes.chunks) {
                    point.chunk = chunk;
                    for (const EndpointSet& set : endpoint_sets(axes)) {
                        point.channels = set.endpoints;
                        point.queues = set.queues;
                        point.threads = set.threads;
                        for (const auto& way : axes.polls) {
                            point.polling = way;
                            settings.push_back({point, window});
                        }
                    }
                }
            }
        }
    }
    return settings;
}

// Empty where it can be measured.
std::string why_skipped(const Point& point, const Layout& layout, const Skip& skip) {
    const auto trouble = point_trouble(point, layout);
    return trouble ? *trouble : skip(point).value_or("");
}

// Every cell of the sweep, skipped ones with their reason.
std::vector<Point> span_cells(const Axes& axes, const Layout& layout, const Skip& skip) {
    const Traffics traffics = traffics_of(axes, layout);
    std::map<const Schedule*, StepsOf> steps_by_schedule;
    for (const Schedule* schedule : axes.schedules)
        steps_by_schedule.emplace(schedule, steps_of(*schedule, traffics));
    const auto of_all = std::make_shared<const Layout>(layout);
    std::vector<Point> cells;
    for (const auto& [setting, window] : settings_of(axes)) {
        const std::optional<std::string> refusal = setting.schedule->refusal(layout);
        const StepsOf& steps = steps_by_schedule.at(setting.schedule);
        for (std::size_t i = 0; i < traffics.size(); ++i) {
            Point point = setting;
            point.traffic = traffics[i];
            if (point.traffic && !steps.empty()) point.steps = steps.at(point.traffic->index());
            point.message_size = axes.sizes[i % axes.sizes.size()];
            if (setting.schedule->forwards && !refusal)
                point.forwarding = std::make_shared<Forwarding>(of_all, point.message_size);
            point.window = window.of(point.largest_transfer());
            point.window_bytes = window.bytes;
            point.skip_reason = refusal ? *refusal : why_skipped(point, layout, skip);
            cells.push_back(std::move(point));
        }
    }
    return cells;
}

std::optional<Point> choose_sentinel(const Axes& axes, const std::vector<Point>& cells) {
    std::vector<Point> measured;
    std::copy_if(cells.begin(), cells.end(), std::back_inserter(measured),
                 [](const Point& point) { return !point.is_skipped(); });
    if (measured.empty()) return std::nullopt;
    const Bytes middle = axes.sizes[axes.sizes.size() / 2];
    const auto found = std::find_if(measured.begin(), measured.end(),
                                    [&](const Point& point) { return point.message_size == middle; });
    Point sentinel = found != measured.end() ? *found : measured[measured.size() / 2];
    sentinel.role = Role::sentinel;
    return sentinel;
}

Point baseline_of(const Point& point) {
    Point baseline;
    baseline.role = Role::baseline;
    baseline.mode = "collective";
    baseline.message_size = point.message_size;
    baseline.traffic = point.traffic;
    baseline.post = Post::inside;
    return baseline;
}

} // namespace

std::vector<EndpointSet> endpoint_sets(const Axes& axes) {
    std::vector<EndpointSet> sets;
    for (const int endpoints : axes.endpoints) {
        if (endpoints == 1)
            sets.push_back({endpoints, Queues::each, Threads::one});
        else
            for (const Queues queues : axes.queues)
                for (const Threads threads : axes.threads) sets.push_back({endpoints, queues, threads});
    }
    return sets;
}

void ChannelCounts::hold(int channels, Queues queues) {
    int& most = queues == Queues::one ? sharing : own;
    most = std::max(most, channels);
}

Plan make_plan(const Axes& axes, const Layout& layout, const Skip& skip) {
    const std::vector<Point> cells = span_cells(axes, layout, skip);
    const std::optional<Point> sentinel = axes.with_sentinel ? choose_sentinel(axes, cells) : std::nullopt;

    Plan plan;
    if (sentinel) plan.points.push_back(*sentinel);
    for (const Point& cell : cells) {
        const auto index = static_cast<int>(plan.points.size());
        plan.points.push_back(cell);
        if (cell.is_skipped()) continue;
        plan.order.push_back(index);
        if (!axes.with_baseline) continue;
        Point baseline = baseline_of(cell);
        baseline.skip_reason = why_skipped(baseline, layout, skip);
        if (!baseline.is_skipped()) {
            baseline.partner = index;
            plan.points.back().partner = index + 1;
            plan.points.back().is_beside_mpi = true;
        }
        plan.points.push_back(std::move(baseline));
    }
    if (axes.order == Order::shuffled) Random(axes.seed).shuffle(std::span(plan.order));
    if (sentinel) {
        plan.order.insert(plan.order.begin(), 0);
        plan.order.push_back(static_cast<int>(plan.points.size()));
        plan.points.push_back(*sentinel);
    }
    return plan;
}

std::string forwarding_words(const Plan& plan) {
    std::map<Bytes, Bytes> forwarded; // by message size
    std::int64_t nodes = 0;           // whose leader has other ranks
    for (const Point& point : plan.points) {
        if (!point.forwarding || point.is_skipped()) continue;
        forwarded[point.message_size] = point.forwarding->forwarded();
        nodes =
            std::ranges::count_if(point.forwarding->layout().ranks_on_node(), [](int count) { return count > 1; });
    }
    if (forwarded.empty()) return {};
    const auto at = [](const std::pair<const Bytes, Bytes>& one) {
        return fmt::format("{} (at {} B)", format_bytes(one.second), one.first);
    };
    const std::string most = forwarded.size() == 1 ? "" : fmt::format(" to {}", at(*std::prev(forwarded.end())));
    return fmt::format("node-aware: the first ranks of {} forward {}{} in each op; rates count each message once",
                       counted(nodes, "node"), at(*forwarded.begin()), most);
}

std::string why_all_skipped(const Plan& plan) {
    constexpr std::size_t kMostReasons = 3;
    std::vector<std::string> reasons;
    for (const Point& point : plan.points)
        if (std::find(reasons.begin(), reasons.end(), point.skip_reason) == reasons.end())
            reasons.push_back(point.skip_reason);
    const std::size_t shown = std::min(reasons.size(), kMostReasons);
    return fmt::format("nothing can be measured, {} skipped: {}{}",
                       counted(static_cast<std::int64_t>(plan.points.size()), "point"),
                       fmt::join(reasons.begin(), reasons.begin() + static_cast<std::ptrdiff_t>(shown), "; "),
                       shown < reasons.size() ? "; ..." : "");
}

} // namespace a2aperf
