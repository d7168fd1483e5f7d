// SPDX-License-Identifier: BSD-3-Clause
#include "search_plan.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "a2aperf/base/error.hpp"
#include "a2aperf/config/selection.hpp"
#include "a2aperf/measure/mode_table.hpp"
#include "a2aperf/plan/halving.hpp"
#include "estimate.hpp"
#include "known_settings.hpp"
#include "usual_settings.hpp"

namespace a2aperf {
namespace {

constexpr int kSearchOps = 400;    // of a point, where there is time
constexpr int kLeastOps = 10;      // one block
constexpr int kConfirmedOps = 120; // of either side: the fewest that give an interval

template <class T>
void add_once(std::vector<T>& values, const T& value) {
    if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
}

std::string_view usual_mode() {
    return tried_option("mode").usual;
}

const Schedule& usual_schedule() {
    return find_schedule(tried_option("schedule").usual);
}

// What holds where nobody sets an option, and after it what is tried.
template <class Parse>
auto usual_and_tried(std::string_view option, Parse parse) {
    std::vector<std::string> words = tried_values(option);
    words.insert(words.begin(), std::string(tried_option(option).usual));
    return parse(words);
}

// What forwards is tried where it has something to, or where it was asked for.
std::vector<const Schedule*> schedules_that_differ(const Options& options, const Layout& layout) {
    const Schedule* const shift = &usual_schedule();
    std::vector<const Schedule*> schedules;
    for (const Schedule* schedule : options.schedules) {
        const bool is_idle = schedule->forwards && schedule->refusal(layout) && !options.is_given("schedule");
        const bool is_shift = layout.ranks() == 2 || schedule->of_matrix != nullptr || is_idle;
        add_once(schedules, is_shift ? shift : schedule);
    }
    return schedules;
}

// What never holds back is all.
void widen(Point& point, int ranks) {
    if (static_cast<Bytes>(point.window) < point.chunks() * static_cast<Bytes>(ranks - 1)) return;
    point.window = 0;
    point.window_bytes = 0;
}

// Of two windows that hold the same number of messages the first is there, and of a chunk that cuts none whole
// ones.
bool makes_same_ops(const Point& a, const Point& b) {
    return a.mode == b.mode && a.schedule == b.schedule && a.window == b.window &&
           a.message_size == b.message_size && a.largest_transfer() == b.largest_transfer() &&
           a.channels == b.channels && a.queues == b.queues && a.threads == b.threads && a.polling == b.polling;
}

Axes default_axes(const Options& options) {
    return {.sizes = options.sizes,
            .modes = {std::string(usual_mode())},
            .schedules = {&usual_schedule()},
            .windows = {Window{}},
            .polls = {polls_of(options).front()},
            .post = options.post,
            .seed = options.seed};
}

// Those that make other ops than each that is there.
void add_points(Plan& plan, std::vector<Point> points, int ranks) {
    for (Point& point : points) {
        widen(point, ranks);
        const auto is_same = [&](const Point& other) { return makes_same_ops(other, point); };
        if (std::ranges::none_of(plan.points, is_same)) plan.points.push_back(std::move(point));
    }
}

std::string first_reason(const Plan& plan) {
    const auto skipped = std::ranges::find_if(plan.points, &Point::is_skipped);
    return skipped == plan.points.end() ? "" : skipped->skip_reason;
}

// The fewest seconds that one size takes with these settings, the default one first: the ones that are thought to
// be faster go on.
double least_seconds(const Options& options, const Plan& plan, const std::vector<int>& points, int ranks) {
    std::vector<double> ops;
    for (const int point : points)
        ops.push_back(seconds_of_op(plan.points[static_cast<std::size_t>(point)], ranks));
    const double usual = ops.front();
    std::ranges::sort(ops);
    const double untimed = options.warmup + 1;
    double seconds = kSecondsBesideOps + (untimed + kConfirmedOps) * (usual + ops.front());
    for (; ops.size() > 1; ops.resize((ops.size() + 1) / 2))
        for (const double op : ops) seconds += kSecondsBesideOps + (untimed + kLeastOps) * op;
    return seconds;
}

// What the options name.
Axes named_axes(const Options& options, const Layout& layout) {
    Axes axes = default_axes(options);
    axes.modes = options.modes;
    std::erase(axes.modes, alltoall_options(options).default_mode_only);
    axes.schedules = schedules_that_differ(options, layout);
    axes.windows = options.windows;
    axes.chunks = alltoall_options(options).chunks;
    axes.endpoints = alltoall_options(options).endpoints;
    axes.queues = alltoall_options(options).queues;
    axes.threads = alltoall_options(options).threads;
    axes.polls = polls_of(options);
    return axes;
}

// At any size.
bool has_choice(const Plan& plan) {
    return std::ranges::any_of(by_size(plan), [](const auto& one) { return one.second.size() > 1; });
}

// By their size. Throws UsageError where one setting alone is left.
void put_in_order(Plan& plan, const Options& options) {
    if (plan.points.size() == options.sizes.size())
        throw UsageError(fmt::format("--search has the default setting alone to choose from: give {} more than one "
                                     "value",
                                     kSearched));
    for (Point& point : plan.points) point.role = Role::search;
    for (const auto& [size, points] : by_size(plan))
        plan.order.insert(plan.order.end(), points.begin(), points.end());
    if (!plan.order.empty() && !has_choice(plan))
        throw UsageError(fmt::format("--search has one setting alone to choose from: the others are skipped ({})",
                                     first_reason(plan)));
}

// The fewest of the smallest size, of the smallest two and so on to all.
std::vector<double> seconds_up_to(const Options& options, const Plan& plan, int ranks) {
    std::vector<double> seconds;
    for (const auto& [size, points] : by_size(plan)) seconds.push_back(least_seconds(options, plan, points, ranks));
    std::partial_sum(seconds.begin(), seconds.end(), seconds.begin());
    return seconds;
}

// So many of the sizes, from the smallest on, are through within the time of --search.
std::ptrdiff_t sizes_in_time(const Options& options, const std::vector<double>& seconds) {
    const double given = static_cast<double>(alltoall_options(options).search.value()) * 1e-9;
    return std::ranges::upper_bound(seconds, given) - seconds.begin();
}

} // namespace

bool is_default(const Point& point) {
    return point.mode == usual_mode() && point.schedule == &usual_schedule() && point.window == 0 &&
           !point.is_cut() && point.channels == 1;
}

void check_search(const Options& options) {
    for (const std::string_view name : {"precision", "min-ops", "max-ops", "time-budget", "baseline", "traffic",
                                        "redraw", "order", "resume", "verify-only"})
        if (options.is_given(name))
            throw UsageError(fmt::format("--search and --{} exclude each other: give one of them", name));
    if (options.is_given("ops") && options.ops < kConfirmedOps)
        throw UsageError(fmt::format("--search --ops {}: fewer than {} ops of either side decide nothing; leave "
                                     "--ops out, or give as many",
                                     options.ops, kConfirmedOps));
    if (options.format != Format::table)
        throw UsageError("--search prints a table of its own: leave out --format; a2a table shows all of the file");
}

void widen_axes(Options& options, const std::vector<std::string>& modes) {
    if (!options.is_given("mode")) {
        options.modes = modes;
        if (options.complete_at == CompleteAt::sender) // which learns nothing of what receivers start
            std::erase_if(options.modes,
                          [](const std::string& mode) { return find_mode(mode).initiator == Initiator::receiver; });
    }
    if (!options.is_given("schedule")) options.schedules = usual_and_tried("schedule", parse_schedules);
    if (!options.is_given("window")) options.windows = usual_and_tried("window", parse_windows);
    if (!options.is_given("ops")) options.ops = kSearchOps;
    const std::string usual(usual_mode());
    if (std::find(options.modes.begin(), options.modes.end(), usual) != options.modes.end()) return;
    options.modes.push_back(usual);
    alltoall_options(options).default_mode_only = usual;
}

Plan plan_search(const Options& options, const Layout& layout, const Workload::Skip& skip) {
    Plan plan = make_plan(default_axes(options), layout, skip);
    plan.order.clear();
    const Axes axes = named_axes(options, layout);
    add_points(plan, make_plan(axes, layout, skip).points, layout.ranks());
    // What is left where the settings of the last options are left out.
    std::vector<Plan> fewer;
    for (std::vector<Point>& points : usual_settings(options, axes, layout, skip)) {
        fewer.push_back(plan);
        add_points(plan, std::move(points), layout.ranks());
    }
    const auto is_in_time = [&](const Plan& tried) {
        const std::vector<double> seconds = seconds_up_to(options, tried, layout.ranks());
        return sizes_in_time(options, seconds) == std::ssize(seconds);
    };
    for (; !fewer.empty() && has_choice(fewer.back()) && !is_in_time(plan); fewer.pop_back())
        plan = std::move(fewer.back());
    put_in_order(plan, options);
    return plan;
}

void require_time(const Options& options, const Plan& first, int ranks) {
    const std::vector<double> seconds = seconds_up_to(options, first, ranks);
    const auto sizes = std::ssize(seconds);
    const auto fit_in = sizes_in_time(options, seconds);
    if (fit_in == sizes) return;
    std::size_t most = 0;
    for (const auto& [size, points] : by_size(first)) most = std::max(most, points.size());
    const std::string fit =
        fit_in == 0 ? "not even one size fits" : fmt::format("the smallest {} fit", counted(fit_in, "size"));
    throw UsageError(
        fmt::format("--search {}: {} with up to {} need about {:.1f}s; {}. Give more time, or fewer --sizes, {}",
                    format_duration(alltoall_options(options).search.value()), counted(sizes, "size"),
                    counted(static_cast<std::int64_t>(most), "setting"), seconds.back(), fit, kSearched));
}

std::map<Bytes, std::vector<int>> by_size(const Plan& plan) {
    std::map<Bytes, std::vector<int>> sizes;
    for (std::size_t i = 0; i < plan.points.size(); ++i)
        if (!plan.points[i].is_skipped()) sizes[plan.points[i].message_size].push_back(static_cast<int>(i));
    return sizes;
}

} // namespace a2aperf
