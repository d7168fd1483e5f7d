// SPDX-License-Identifier: BSD-3-Clause
#include "app/usual_settings.hpp"

#include <algorithm>
#include <functional>
#include <set>
#include <tuple>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "app/search_plan.hpp"

using namespace a2aperf;

namespace {

constexpr std::string_view kOnePsm2 = "psm2 opens 1 endpoint in a process, not 2";
constexpr std::string_view kFewCores = "oversubscribed: 4 ranks on 2 cores";

Options with_usual_settings(std::vector<Bytes> sizes, double seconds = 300) {
    Options options = default_options(alltoall().row());
    options.sizes = std::move(sizes);
    alltoall_options(options).search = static_cast<Nanoseconds>(seconds * 1e9);
    widen_axes(options, {"tagged", "write-imm"});
    return options;
}

std::optional<std::string> nothing_skipped(const Point&) {
    return std::nullopt;
}

Plan planned_for(const Options& options, int ranks, const Workload::Skip& skip = nothing_skipped) {
    return plan_search(options, Layout::blocks(ranks, ranks), skip);
}

// There are cores for all.
std::string no_threads_share(int) {
    return {};
}

std::string untried(const Options& options, int ranks, const Workload::Skip& skip = nothing_skipped,
                    const std::string& oversubscription = {}, const WhyThreadsShare& why = no_threads_share) {
    return untried_words(options, planned_for(options, ranks, skip), ranks, oversubscription, why);
}

// Mode, endpoints, threads and way to poll of the points that differ from the default setting in one of the latter.
using UsualSetting = std::tuple<std::string, int, std::string, std::string>;

std::set<UsualSetting> beyond_default(const Plan& plan) {
    std::set<UsualSetting> all;
    for (const Point& point : plan.points) {
        if (point.channels == 1 && !point.polling) continue;
        CHECK(point.role == Role::search);
        CHECK(point.schedule_name() == "shift");
        CHECK(point.window == 0);
        CHECK_FALSE(point.is_cut());
        if (!point.is_skipped())
            all.emplace(point.mode, point.channels, to_string(point.threads),
                        point.polling ? point.polling->text() : "");
    }
    return all;
}

} // namespace

TEST_CASE(
    "two endpoints, threads for them and other ways to poll are tried in each mode where they are not given") {
    const Plan plan = planned_for(with_usual_settings({1000, 65536}), 4);
    std::set<UsualSetting> wanted;
    for (const std::string mode : {"tagged", "write-imm"}) {
        wanted.emplace(mode, 2, "one", "");
        wanted.emplace(mode, 2, "each", "");
        wanted.emplace(mode, 1, "one", "yield");
        wanted.emplace(mode, 1, "one", "throttle=16");
    }
    CHECK(beyond_default(plan) == wanted);
    // The default setting waits as all of the launch does.
    CHECK(is_default(plan.points.front()));
    CHECK_FALSE(plan.points.front().polling);
    CHECK(untried_words(with_usual_settings({1000}), plan, 4, {}, no_threads_share).empty());
}

TEST_CASE("endpoints and ways to poll that are given are those that are tried") {
    Options options = with_usual_settings({1000});
    options.given = {"endpoints", "poll", "threads"};
    alltoall_options(options).endpoints = {1, 3};
    const Plan plan = planned_for(options, 4);
    std::set<int> endpoints;
    for (const Point& point : plan.points) {
        endpoints.insert(point.channels);
        CHECK_FALSE(point.polling);
    }
    CHECK(endpoints == std::set{1, 3});
    CHECK(untried_words(options, plan, 4, std::string(kFewCores), no_threads_share).empty());
}

TEST_CASE("two endpoints are tried where no rank has one that is idle, and not too many to connect") {
    const Options options = with_usual_settings({8});
    const auto most_of = [&](int ranks) {
        int most = 1;
        for (const Point& point : planned_for(options, ranks).points) most = std::max(most, point.channels);
        return most;
    };
    CHECK(most_of(2) == 1);
    CHECK(most_of(3) == 2);
    CHECK(most_of(128) == 2);
    CHECK(most_of(129) == 1);
    CHECK(untried(options, 2) ==
          "not tried: --endpoints 2, --threads each (a rank has one peer, which is reached over one of them)");
    CHECK(untried(options, 129) ==
          "not tried: --endpoints 2, --threads each (each is connected to every other of 129 ranks)");
}

TEST_CASE("of endpoints that a provider lacks the search says why, and keeps the points as skipped") {
    const Options options = with_usual_settings({8});
    const auto skip = [](const Point& point) -> std::optional<std::string> {
        if (point.channels > 1) return std::string(kOnePsm2);
        return std::nullopt;
    };
    const Plan plan = planned_for(options, 4, skip);
    int skipped = 0;
    for (const Point& point : plan.points) {
        CHECK(point.is_skipped() == (point.channels > 1));
        skipped += point.is_skipped() ? 1 : 0;
    }
    CHECK(skipped == 2);
    CHECK(untried(options, 4, skip) == fmt::format("not tried: --endpoints 2, --threads each ({})", kOnePsm2));
    Options of_one_thread = options;
    of_one_thread.given = {"threads"};
    CHECK(untried(of_one_thread, 4, skip) == fmt::format("not tried: --endpoints 2 ({})", kOnePsm2));
}

TEST_CASE("threads are tried for as many endpoints as have a core for each, and else the search says why not") {
    constexpr std::string_view kThree = "oversubscribed: 3 threads each of 4 ranks on 8 cores";
    const auto why = [&](int threads) { return std::string(threads > 2 ? kThree : ""); };
    Options options = with_usual_settings({8});
    options.given = {"endpoints"};
    alltoall_options(options).endpoints = {1, 2, 3};
    const auto skip = [&](const Point& point) { return usual_threads_trouble(options, point, why); };
    const auto threads_of = [](const Plan& plan) {
        std::set<int> all;
        for (const Point& point : plan.points) {
            if (!point.is_skipped()) all.insert(point.threads_of_rank()); // a window of 1 is
        }
        return all;
    };
    CHECK(threads_of(planned_for(options, 4, skip)) == std::set{1, 2});
    CHECK(untried(options, 4, skip, {}, why) ==
          fmt::format("not tried: --threads each of 3 endpoints ({})", kThree));
    // Asked for, they are tried whatever there is.
    options.given = {"endpoints", "threads"};
    alltoall_options(options).threads = {Threads::one, Threads::each};
    CHECK(threads_of(planned_for(options, 4, skip)) == std::set{1, 2, 3});
    CHECK(untried(options, 4, skip, {}, why).empty());
}

TEST_CASE("endpoints with one queue have one thread") {
    Options options = with_usual_settings({8});
    options.given = {"queues"};
    alltoall_options(options).queues = {Queues::one};
    for (const Point& point : planned_for(options, 4).points) CHECK(point.threads == Threads::one);
    CHECK(untried(options, 4) == "not tried: --threads each of 2 endpoints (endpoints that have one queue have one "
                                 "domain, which belongs to one thread at a time)");
    // With both kinds the threads are for those that have a queue each.
    alltoall_options(options).queues = {Queues::one, Queues::each};
    CHECK(untried(options, 4).empty());
}

TEST_CASE("what is tried beside a given first value that is skipped is tried as the next one is") {
    Options options = with_usual_settings({65536});
    options.given = {"endpoints"};
    alltoall_options(options).endpoints = {2, 1};
    const auto skip = [](const Point& point) -> std::optional<std::string> {
        if (point.channels > 1) return std::string(kOnePsm2);
        return std::nullopt;
    };
    const Plan plan = planned_for(options, 4, skip);
    const auto is_measured_and = [&plan](auto is) {
        return std::ranges::any_of(plan.points,
                                   [&](const Point& one) { return !one.is_skipped() && std::invoke(is, one); });
    };
    CHECK(is_measured_and([](const Point& point) { return point.polling.has_value(); }));
    CHECK(is_measured_and(&Point::is_cut));
    CHECK(untried(options, 4, skip) == "");
}

TEST_CASE("ranks that share cores poll in no other way, unless it is given") {
    Options options = with_usual_settings({8});
    const WhyThreadsShare why = [](int) { return std::string(kFewCores); };
    const auto skip = [&](const Point& point) {
        auto trouble = usual_poll_trouble(options, point, std::string(kFewCores));
        return trouble ? trouble : usual_threads_trouble(options, point, why);
    };
    for (const Point& point : planned_for(options, 4, skip).points) {
        CHECK_FALSE(point.polling);
        CHECK(point.threads == Threads::one);
    }
    CHECK(untried(options, 4, skip, std::string(kFewCores), why) ==
          fmt::format("not tried: --threads each of 2 endpoints ({0}); another --poll ({0})", kFewCores));
    options.given = {"poll"};
    options.polls = {PollingWay{Polling::yield}, PollingWay{Polling::spin}};
    std::set<std::string> ways;
    for (const Point& point : planned_for(options, 4, skip).points) {
        REQUIRE(point.polling);
        ways.insert(point.polling->text());
    }
    CHECK(ways == std::set<std::string>{"spin", "yield"});
}

TEST_CASE("ranks that sleep on one queue have one endpoint") {
    Options options = with_usual_settings({8});
    options.given = {"poll"};
    options.polls = {PollingWay{Polling::block}};
    for (const Point& point : planned_for(options, 4).points) CHECK(point.channels == 1);
    CHECK(untried(options, 4) ==
          "not tried: --endpoints 2, --threads each (--poll block sleeps on the queue of one endpoint)");
}

TEST_CASE("where time is short ways to poll are left out first, then threads, then endpoints, then chunks") {
    // What each of them adds is seen as the time grows.
    std::vector<std::string> seen;
    for (double seconds = 0.2; seconds < 30; seconds += 0.05) {
        const Plan plan = planned_for(with_usual_settings({65536}, seconds), 4);
        std::string what;
        for (const Point& point : plan.points)
            if (point.is_cut()) what = "chunks";
        for (const Point& point : plan.points)
            if (point.channels > 1) what = "chunks, endpoints";
        for (const Point& point : plan.points)
            if (point.threads != Threads::one) what = "chunks, endpoints, threads";
        for (const Point& point : plan.points)
            if (point.polling) what = "chunks, endpoints, threads, polls";
        if (seen.empty() || seen.back() != what) seen.push_back(what);
    }
    CHECK(seen == std::vector<std::string>{"", "chunks", "chunks, endpoints", "chunks, endpoints, threads",
                                           "chunks, endpoints, threads, polls"});
    CHECK(
        untried(with_usual_settings({65536}, 0.2), 4) ==
        "not tried: --endpoints 2, --threads each (there is no time for it); another --poll (there is no time for "
        "it)");
}
