// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/plan/plan.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace a2aperf;

namespace {

std::optional<std::string> skip_nothing(const Point& /*point*/) {
    return std::nullopt;
}

Axes two_of_each() {
    Axes axes;
    axes.sizes = {1000, 2000, 3000};
    axes.modes = {"tagged", "write-imm"};
    axes.schedules = {&find_schedule("shift"), &find_schedule("naive")};
    axes.windows = {{}, {.messages = 8}};
    return axes;
}

const Layout kFourRanks = Layout::blocks(4, 2);
const Layout kSixRanks = Layout::blocks(6, 2);

const Point& at(const Plan& plan, int index) {
    return plan.points.at(static_cast<std::size_t>(index));
}

} // namespace

TEST_CASE("the sweep spans every combination, sizes fastest") {
    const Plan plan = make_plan(two_of_each(), kFourRanks, skip_nothing);
    REQUIRE(plan.points.size() == 2 * 2 * 2 * 3);
    std::set<std::string> labels;
    for (const Point& point : plan.points) labels.insert(point.label());
    CHECK(labels.size() == plan.points.size());
    CHECK(at(plan, 0).label() == "tagged shift window all 1000 B");
    CHECK(at(plan, 1).label() == "tagged shift window all 2000 B");
    CHECK(at(plan, 3).label() == "tagged shift window 8 1000 B");
    CHECK(at(plan, 6).label() == "tagged naive window all 1000 B");
    CHECK(at(plan, 12).label() == "write-imm shift window all 1000 B");
    for (int i = 0; i < 24; ++i) CHECK(plan.order.at(static_cast<std::size_t>(i)) == i);
}

TEST_CASE("what a schedule refuses is skipped with its reason and not measured") {
    Axes axes = two_of_each();
    axes.schedules = {&find_schedule("xor"), &find_schedule("shift")};
    const Plan plan = make_plan(axes, kSixRanks, skip_nothing);
    CHECK(plan.points.size() == 24);
    CHECK(plan.order.size() == 12);
    for (const Point& point : plan.points) {
        CHECK(point.is_skipped() == (point.schedule_name() == "xor"));
        if (point.is_skipped()) CHECK(point.skip_reason.starts_with("xor needs a power of two"));
    }
    for (const int index : plan.order) CHECK_FALSE(at(plan, index).is_skipped());
}

TEST_CASE("what the caller cannot do is skipped with the caller's reason") {
    const Plan plan = make_plan(two_of_each(), kFourRanks, [](const Point& point) -> std::optional<std::string> {
        if (point.mode == "write-imm" && point.message_size > 1000) return "too little memory";
        return std::nullopt;
    });
    CHECK(plan.order.size() == 24 - 8);
    const auto skipped = std::count_if(plan.points.begin(), plan.points.end(),
                                       [](const Point& point) { return point.skip_reason == "too little memory"; });
    CHECK(skipped == 8);
}

TEST_CASE("a baseline follows its partner, both name each other, receives are inside the op") {
    Axes axes = two_of_each();
    axes.schedules = {&find_schedule("xor"), &find_schedule("shift")};
    axes.with_baseline = true;
    const Plan plan = make_plan(axes, kSixRanks, skip_nothing);
    CHECK(plan.points.size() == 12 + 2 * 12);
    CHECK(plan.order.size() == 12);
    int baselines = 0;
    for (int i = 0; i < static_cast<int>(plan.points.size()); ++i) {
        const Point& point = at(plan, i);
        CHECK(point.post == Post::inside);
        if (point.is_skipped()) CHECK(point.partner == -1);
        if (!point.is_baseline()) continue;
        ++baselines;
        CHECK(point.partner == i - 1);
        CHECK(at(plan, i - 1).partner == i);
        CHECK(at(plan, i - 1).role == Role::measure);
        CHECK(point.message_size == at(plan, i - 1).message_size);
        CHECK(point.mode == "collective");
        CHECK(point.schedule == nullptr);
        CHECK(std::find(plan.order.begin(), plan.order.end(), i) == plan.order.end());
    }
    CHECK(baselines == 12);
}

TEST_CASE("receives are posted where the axes say when there is no baseline") {
    Axes axes = two_of_each();
    for (const Post post : {Post::before, Post::inside}) {
        axes.post = post;
        for (const Point& point : make_plan(axes, kFourRanks, skip_nothing).points) CHECK(point.post == post);
    }
}

TEST_CASE("the sentinels are the first and the last row and measured first and last") {
    for (const Order order : {Order::declared, Order::shuffled}) {
        Axes axes = two_of_each();
        axes.with_sentinel = true;
        axes.order = order;
        const Plan plan = make_plan(axes, kFourRanks, skip_nothing);
        REQUIRE(plan.points.size() == 26);
        CHECK(plan.order.front() == 0);
        CHECK(plan.order.back() == 25);
        for (const Point* sentinel : {&plan.points.front(), &plan.points.back()}) {
            CHECK(sentinel->role == Role::sentinel);
            CHECK(sentinel->partner == -1);
            CHECK(sentinel->label() == "tagged shift window all 2000 B (sentinel)");
        }
        CHECK(std::set<int>(plan.order.begin(), plan.order.end()).size() == 26);
    }
}

TEST_CASE("a sentinel is always a point that is measured") {
    Axes axes = two_of_each();
    axes.with_sentinel = true;
    axes.with_baseline = true;
    axes.schedules = {&find_schedule("xor"), &find_schedule("shift")};
    CHECK(make_plan(axes, kSixRanks, skip_nothing).points.front().label() ==
          "tagged shift window all 2000 B (sentinel)");

    const auto only_smallest = [](const Point& point) {
        return point.message_size > 1000 ? std::optional<std::string>("too large") : std::nullopt;
    };
    const Plan small = make_plan(axes, kSixRanks, only_smallest);
    CHECK(small.points.front().message_size == 1000);
    CHECK(small.points.front().role == Role::sentinel);

    const Plan nothing = make_plan(axes, kSixRanks, [](const Point&) { return std::optional<std::string>("no"); });
    CHECK(nothing.order.empty());
    CHECK(std::all_of(nothing.points.begin(), nothing.points.end(), [](const Point& p) { return p.is_skipped(); }));
    CHECK(make_plan(Axes{}, kSixRanks, skip_nothing).points.empty());
}

TEST_CASE("a shuffled plan measures the same points in another order that the seed decides") {
    Axes axes = two_of_each();
    const std::vector<int> declared = make_plan(axes, kFourRanks, skip_nothing).order;
    axes.order = Order::shuffled;
    const std::vector<int> one = make_plan(axes, kFourRanks, skip_nothing).order;
    CHECK(one == make_plan(axes, kFourRanks, skip_nothing).order);
    axes.seed = 2;
    const std::vector<int> two = make_plan(axes, kFourRanks, skip_nothing).order;
    CHECK(one != declared);
    CHECK(one != two);
    CHECK(std::is_permutation(one.begin(), one.end(), declared.begin(), declared.end()));
    CHECK(std::is_permutation(two.begin(), two.end(), declared.begin(), declared.end()));
}

TEST_CASE(
    "a schedule that is made of a matrix has its steps once for all sizes and modes; uniform traffic has shift's") {
    const Layout layout = Layout::blocks(6, 3);
    const Axes axes{.sizes = {1, 1000},
                    .modes = {"tagged", "msg"},
                    .schedules = {&find_schedule("coloured"), &find_schedule("shift")},
                    .windows = {Window{}},
                    .traffics = {TrafficPattern::parse("uniform"), TrafficPattern::parse("incast"),
                                 TrafficPattern::parse("zipf=1.2")}};
    const Plan plan = make_plan(axes, layout, skip_nothing);
    std::map<std::string, std::set<const MessageSteps*>> steps;
    for (const Point& point : plan.points) {
        const bool is_made = point.traffic && point.schedule->name == "coloured";
        CHECK((point.steps != nullptr) == is_made);
        if (is_made) steps[point.traffic->name()].insert(point.steps.get());
        if (!point.traffic)
            CHECK(point.peers(2, layout, 1).sends == std::vector<Rank>{3, 4, 5, 0, 1});
        else if (point.traffic->name() == "incast" && is_made)
            CHECK(point.peers(0, layout, 1).receives == point.steps->peers(0).receives);
    }
    CHECK(steps.size() == 2);
    for (const auto& [name, of_name] : steps) CHECK(of_name.size() == 1);
}

TEST_CASE("ways to poll are an axis, and a label names them where there are several") {
    Axes axes = two_of_each();
    axes.modes = {"tagged"};
    axes.schedules = {&find_schedule("shift")};
    axes.windows = {Window{}};
    axes.polls = {PollingWay{Polling::spin}, PollingWay{Polling::throttle, 16}};
    const Plan plan = make_plan(axes, Layout::blocks(4, 2), skip_nothing);
    REQUIRE(plan.points.size() == 6);
    CHECK(plan.points[2].polling == PollingWay{Polling::spin});
    CHECK(plan.points[3].label().find(" window all poll throttle=16 ") != std::string::npos);
    axes.polls = {std::nullopt};
    CHECK(make_plan(axes, Layout::blocks(4, 2), skip_nothing).points[0].label().find("poll") == std::string::npos);
}

TEST_CASE("chunks and endpoints are axes, and a window in bytes holds chunks of messages that are cut") {
    Axes axes = two_of_each();
    axes.modes = {"tagged"};
    axes.schedules = {&find_schedule("shift")};
    axes.windows = {{.bytes = 4000}};
    axes.chunks = {0, 1500};
    axes.endpoints = {1, 2};
    const Plan plan = make_plan(axes, Layout::blocks(4, 2), skip_nothing);
    REQUIRE(plan.points.size() == 12);
    std::vector<int> windows;
    for (const Point& point : plan.points) windows.push_back(point.window);
    CHECK(windows == std::vector<int>{4, 2, 1, 4, 2, 1, 4, 2, 2, 4, 2, 2});
    CHECK(plan.points[3].channels == 2);
    CHECK(plan.points[3].chunk == 0);
    CHECK(plan.points[8].chunks() == 2);
    CHECK(plan.points[6].chunks() == 1);
}

TEST_CASE("the queues of several endpoints are an axis, and one endpoint has one") {
    Axes axes = two_of_each();
    axes.modes = {"tagged"};
    axes.schedules = {&find_schedule("shift")};
    axes.windows = {{}};
    axes.sizes = {1000};
    axes.endpoints = {1, 2, 3};
    axes.queues = {Queues::one, Queues::each};
    const Plan plan = make_plan(axes, Layout::blocks(4, 2), skip_nothing);
    std::vector<std::string> sets;
    for (const Point& point : plan.points)
        if (point.role == Role::measure)
            sets.push_back(fmt::format("{} {}", point.channels, to_string(point.queues)));
    CHECK(sets == std::vector<std::string>{"1 each", "2 one", "2 each", "3 one", "3 each"});
    ChannelCounts counts;
    for (const EndpointSet& one : endpoint_sets(axes)) counts.hold(one.endpoints, one.queues);
    CHECK(counts.own == 3);
    CHECK(counts.sharing == 3);
    CHECK(counts.all() == 6);
}

TEST_CASE("the threads of several endpoints are an axis, and endpoints with one queue have one") {
    Axes axes = two_of_each();
    axes.modes = {"tagged"};
    axes.schedules = {&find_schedule("shift")};
    axes.windows = {{}};
    axes.sizes = {1000};
    axes.endpoints = {1, 2};
    axes.queues = {Queues::each, Queues::one};
    axes.threads = {Threads::one, Threads::each};
    const Plan plan = make_plan(axes, Layout::blocks(4, 2), skip_nothing);
    std::vector<std::string> sets;
    for (const Point& point : plan.points)
        if (point.role == Role::measure)
            sets.push_back(fmt::format("{} {}{}", point.threads_of_rank(), to_string(point.queues),
                                       point.is_skipped() ? ": " + point.skip_reason : ""));
    CHECK(sets == std::vector<std::string>{"1 each", "1 each", "2 each", "1 one",
                                           "2 one: endpoints that have one queue have one domain, which belongs to "
                                           "one thread at a time"});
}

TEST_CASE("messages by way of leaders are not cut, also where the schedule refuses the layout") {
    Axes axes = two_of_each();
    axes.modes = {"tagged"};
    axes.schedules = {&find_schedule("node-aware")};
    axes.sizes = {65536};
    axes.windows = {{.bytes = 8192}};
    axes.chunks = {4096};
    for (const int per_node : {2, 4}) {
        const Point point = make_plan(axes, Layout::blocks(4, per_node), skip_nothing).points.front();
        CHECK(point.is_skipped());
        CHECK(point.label().find(" chunk 4KiB (not cut) 65536 B") != std::string::npos);
        CHECK(point.window == 1); // message of more than the window's bytes
    }
}

TEST_CASE("a point whose messages go by way of leaders has room for what they forward") {
    const Layout layout = Layout::blocks(6, 3);
    const Axes axes{.sizes = {8, 1000},
                    .modes = {"tagged"},
                    .schedules = {&find_schedule("node-aware"), &find_schedule("shift")},
                    .windows = {Window{}}};
    const Plan plan = make_plan(axes, layout, [](const Point&) { return std::nullopt; });
    REQUIRE(plan.points.size() == 4);
    for (const Point& point : plan.points) {
        const bool forwards = point.schedule->name == "node-aware";
        CHECK((point.forwarding != nullptr) == forwards);
        CHECK(point.largest_transfer() == point.message_size * (forwards ? 9 : 1));
        CHECK((point.buffer_bytes(6) > 6 * point.message_size) == forwards);
    }
    CHECK(forwarding_words(plan) ==
          "node-aware: the first ranks of 2 nodes forward 192 B (at 8 B) to 24 kB (at 1000 "
          "B) in each op; rates count each message once");
    const Plan alone = make_plan(axes, Layout::blocks(6, 6), [](const Point&) { return std::nullopt; });
    CHECK(alone.points.front().skip_reason == "node-aware needs two nodes or more: within one it forwards nothing");
    CHECK(forwarding_words(alone).empty());
}
