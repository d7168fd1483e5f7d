// SPDX-License-Identifier: BSD-3-Clause
#include "app/workload.hpp"

#include <algorithm>
#include <set>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "app/estimate.hpp"

using namespace a2aperf;

namespace {

constexpr int kPlanRanks = 6;

std::optional<std::string> never(const Point&) {
    return std::nullopt;
}

// Calls action with each workload and its options as they are without any being typed.
template <class Action>
void for_each_workload(Action action) {
    for (const WorkloadRow* row : workload_rows()) {
        CAPTURE(row->name);
        const Options options = default_options(*row);
        action(workload_of(options), options);
    }
}

bool is_measured(const Plan& plan, const Point& point) {
    const auto index = static_cast<int>(&point - plan.points.data());
    return std::find(plan.order.begin(), plan.order.end(), index) != plan.order.end();
}

} // namespace

TEST_CASE("every workload has a name of its own and says what it is") {
    std::set<std::string_view> names{"providers"};
    for_each_workload([&](const Workload& workload, const Options& options) {
        const WorkloadRow& row = workload.row();
        CHECK(names.insert(row.name).second);
        CHECK(row.name == options.workload);
        for (const std::string_view words : {row.purpose, row.usage, row.page.introduction, row.page.examples,
                                             row.page.farewell, row.page.sizes, row.page.formats})
            CHECK_FALSE(words.empty());
        CHECK_FALSE(workload.demands().empty());
    });
}

TEST_CASE("every workload's files have columns of different names, and their state last") {
    for_each_workload([](const Workload& workload, const Options&) {
        const Schema schema = workload.schema();
        CHECK(schema.workload == workload.row().name);
        CHECK_FALSE(schema.subject.empty());
        std::set<std::string_view> names;
        for (const Column& column : schema.columns) CHECK(names.insert(column.name).second);
        CHECK(schema.columns.back().name == "state");
    });
}

TEST_CASE("every workload declares the moments that the driver of ops takes, and what a replicate is") {
    for_each_workload([](const Workload& workload, const Options&) {
        const Schema schema = workload.schema();
        std::set<std::string_view> names;
        for (const SampleColumn& column : schema.samples) {
            CAPTURE(column.name);
            CHECK(names.insert(column.name).second);
            CHECK_FALSE(column.long_name.empty());
            CHECK((column.type == ValueType::int64 || column.type == ValueType::int8));
        }
        for (const char* name : {"begin", "send_done", "recv_done", "start", "valid", "exit", "arrival"})
            CHECK(names.count(name) == 1);
        CHECK_FALSE(to_string(schema.replicate).empty());
        CHECK(schema.block >= 0);
    });
}

TEST_CASE("the rate that a summary has is the one that the progress shows") {
    for_each_workload([](const Workload& workload, const Options& options) {
        if (workload.most_ticks(options, 4) > 0) return; // no ops
        const Layout layout = Layout::blocks(kPlanRanks, 2);
        const Point point = workload.plan(options, layout, never).points.back();
        Samples samples;
        samples.ranks = kPlanRanks;
        samples.begin.assign(kPlanRanks, 0);
        samples.recv_done.assign(kPlanRanks, 5000);
        samples.send_done = samples.recv_done;
        samples.start = {0};
        samples.valid = {1};
        const Summary summary = workload.schema().summarise(samples, layout, point.message_size, {});
        CHECK(summary.p50 == 5000);
        CHECK(summary.gbps.rank == doctest::Approx(workload.gbps_rank(point, layout, 5000)));
    });
}

TEST_CASE("what a workload does by default is allowed and has points of every size") {
    for_each_workload([](const Workload& workload, const Options& options) {
        CHECK_NOTHROW(workload.row().check(options));
        const Plan plan = workload.plan(options, Layout::blocks(kPlanRanks, 2), never);
        for (const Bytes size : options.sizes) {
            CAPTURE(size);
            CHECK(std::any_of(plan.points.begin(), plan.points.end(), [&](const Point& point) {
                return point.message_size == size && is_measured(plan, point);
            }));
            const std::string lines = workload.describe(plan, options, kPlanRanks);
            const bool has_option = lines.find(fmt::format("size={} ", size)) != std::string::npos; // of a path
            CHECK((has_option || lines.find(fmt::to_string(size) + " B") != std::string::npos));
        }
        CHECK(workload.messages_at_once(kPlanRanks) >= 1);
    });
}

TEST_CASE("a plan of which nothing can be measured says why, for each size, and at most once for each point") {
    for_each_workload([](const Workload& workload, const Options& options) {
        const Plan plan =
            workload.plan(options, Layout::blocks(kPlanRanks, 2), [](const Point&) { return "no luck"; });
        CHECK(plan.order.empty());
        const std::string lines = workload.describe(plan, options, kPlanRanks);
        std::size_t times = 0;
        for (std::size_t at = 0; (at = lines.find("skipped: no luck", at)) != std::string::npos; ++at) ++times;
        CHECK(times >= options.sizes.size());
        CHECK(times <= plan.points.size());
    });
}

TEST_CASE("an estimate grows with the ops, and no launch is shorter for more ranks") {
    for_each_workload([](const Workload& workload, Options options) {
        const auto estimate = [&](int ranks) {
            return estimated_time(workload.plan(options, Layout::blocks(ranks, ranks), never), options, ranks);
        };
        const Nanoseconds before = estimate(kPlanRanks);
        CHECK(before > 0);
        CHECK(estimate(2 * kPlanRanks) >= before);
        if (workload.most_ticks(options, 4) > 0) return; // no ops
        options.ops *= 2;
        CHECK(estimate(kPlanRanks) > before);
    });
}

TEST_CASE("a rank sends half as much in a second when an op takes twice as long") {
    for_each_workload([](const Workload& workload, const Options& options) {
        if (workload.most_ticks(options, 4) > 0) return; // no ops
        const Layout layout = Layout::blocks(kPlanRanks, 2);
        const Plan plan = workload.plan(options, layout, never);
        const double rate = workload.gbps_rank(plan.points.back(), layout, 1e6);
        CHECK(rate > 0);
        CHECK(workload.gbps_rank(plan.points.back(), layout, 2e6) == doctest::Approx(rate / 2));
    });
}

TEST_CASE("a file says what it is about, and groups of different workloads have different names") {
    std::set<std::string_view> subjects;
    std::set<std::string> groups;
    for_each_workload([&](const Workload& workload, const Options& options) {
        const Plan plan = workload.plan(options, Layout::blocks(kPlanRanks, 2), never);
        CHECK_FALSE(workload.schema().subject.empty());
        CHECK(subjects.insert(workload.schema().subject).second);
        const auto group = workload.group(options, plan, kPlanRanks);
        if (group) CHECK(groups.insert(group->name).second);
    });
}
