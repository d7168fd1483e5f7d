// SPDX-License-Identifier: BSD-3-Clause
// The axes of a sweep and the points they span.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "a2aperf/plan/point.hpp"
#include "a2aperf/plan/traffic_pattern.hpp"
#include "a2aperf/plan/window.hpp"

namespace a2aperf {

enum class Order { declared, shuffled };

struct Axes {
    std::vector<Bytes> sizes;
    std::vector<std::string> modes;
    std::vector<const Schedule*> schedules;
    std::vector<Window> windows;
    std::vector<Bytes> chunks{0};                               // 0 = whole messages
    std::vector<int> endpoints{1};                              // of each rank
    std::vector<Queues> queues{Queues::each};                   // of several endpoints; one has its own
    std::vector<Threads> threads{Threads::one};                 // of several endpoints
    std::vector<std::optional<PollingWay>> polls{std::nullopt}; // nothing: as in all of the launch
    std::vector<TrafficPattern> traffics{};                     // none: uniform
    bool redraws = false;                                       // what is drawn is, for each op
    Post post = Post::before;
    std::string_view own_role{}; // of the measured points
    // Each measured point gets an MPI row as partner; all receives are then posted inside the op, as MPI's are.
    bool with_baseline = false;
    bool with_sentinel = false; // first and last of the launch
    Order order = Order::declared;
    std::uint64_t seed = 1;
};

// How many endpoints a rank has, and the queues and threads of these: one endpoint has one of each, whatever is
// asked for.
struct EndpointSet {
    int endpoints;
    Queues queues;
    Threads threads;
};
std::vector<EndpointSet> endpoint_sets(const Axes& axes);

// That a rank opens: with a queue each, and, beside these, with one for all of them.
struct ChannelCounts {
    int own = 0, sharing = 0;
    void hold(int channels, Queues queues);
    int all() const { return own + sharing; }
};

struct Plan {
    std::vector<Point> points;
    // Indices of points in the order in which they are measured. Skipped points and baseline rows are not in
    // it (a baseline is measured with its partner); the two sentinels are first and last.
    std::vector<int> order;
};

// Nested as modes > schedules > windows > chunks > endpoints > queues > threads > polls > traffics > sizes,
// sizes running fastest.
// Points whose schedule refuses the layout, that have a point_trouble() or for which skip() gives a reason (asked
// for the others only) are in the plan as skipped. A baseline row follows its partner directly; skipped points have
// none. The sentinels are the first and the last row: a copy of the first measured point that has the middle size,
// or of the middle measured point where that size is skipped throughout; none where nothing is measured. The same
// axes give the same plan on all ranks. Throws UsageError where traffic is not to be had on this layout.
Plan make_plan(const Axes& axes, const Layout& layout,
               const std::function<std::optional<std::string>(const Point&)>& skip);

// What leaders forward, from the point with the least to that with the most; empty where nothing is forwarded.
std::string forwarding_words(const Plan& plan);

// Of a plan with an empty order: "nothing can be measured, 2 points skipped: …", up to three of their reasons.
std::string why_all_skipped(const Plan& plan);

} // namespace a2aperf
