// SPDX-License-Identifier: BSD-3-Clause
// The properties that make a schedule one, for every number of ranks from 1 to 65 (33 under AddressSanitizer).
#include "a2aperf/plan/schedule.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "a2aperf/base/error.hpp"
#include "support/sanitizers.hpp"

using namespace a2aperf;

namespace {

constexpr int kMostRanks = test::is_sanitized ? 33 : 65; // past a power of two
constexpr std::uint64_t kSeed = 2019;

// steps[rank][i]
using AllSteps = std::vector<std::vector<Step>>;

AllSteps all_steps(const Schedule& schedule, const Layout& layout, std::uint64_t seed = kSeed) {
    AllSteps steps;
    for (Rank rank = 0; rank < layout.ranks(); ++rank) steps.push_back(schedule.steps(rank, layout, seed));
    return steps;
}

// Ranks dealt out to the nodes in turn.
Layout dealt(int ranks, int nodes) {
    std::vector<int> node_of_rank;
    node_of_rank.reserve(static_cast<std::size_t>(ranks));
    for (Rank rank = 0; rank < ranks; ++rank) node_of_rank.push_back(rank % nodes);
    return Layout(node_of_rank);
}

// One node, one rank a node, blocks of several widths and ranks dealt out.
std::vector<Layout> layouts_of(int ranks) {
    std::vector<Layout> layouts{Layout::blocks(ranks, ranks), Layout::blocks(ranks, 1)};
    for (const int width : {2, 3, 4, 5, 8}) {
        if (width >= ranks) continue;
        layouts.push_back(Layout::blocks(ranks, width));
        layouts.push_back(dealt(ranks, width));
    }
    return layouts;
}

// Calls check(schedule, layout, steps) for every schedule, R and layout that it serves; returns how many.
template <class Check>
int for_every_schedule(Check check) {
    int count = 0;
    for (const Schedule& schedule : schedules()) {
        for (int ranks = 1; ranks <= kMostRanks; ++ranks) {
            for (const Layout& layout : layouts_of(ranks)) {
                if (schedule.refusal(layout)) continue;
                CAPTURE(schedule.name);
                CAPTURE(ranks);
                CAPTURE(layout.nodes());
                check(schedule, layout, all_steps(schedule, layout));
                ++count;
            }
        }
    }
    return count;
}

bool visits_every_peer_once(const std::vector<Rank>& visited, Rank self, int ranks) {
    std::vector<int> count(static_cast<std::size_t>(ranks));
    for (const Rank peer : visited) {
        if (peer < 0 || peer >= ranks || peer == self) return false;
        ++count[static_cast<std::size_t>(peer)];
    }
    count[static_cast<std::size_t>(self)] += 1;
    return std::all_of(count.begin(), count.end(), [](int c) { return c == 1; });
}

// docs/schedules.md, where users choose by it.
std::string documentation() {
    std::ifstream file(A2APERF_DOCS "/schedules.md");
    return {std::istreambuf_iterator<char>(file), {}};
}

// What the page's table says of the schedule in its column "matched".
bool is_called_matched(const Schedule& schedule) {
    const std::string text = documentation();
    const auto row = text.find(fmt::format("| `{}` |", schedule.name));
    REQUIRE(row != std::string::npos);
    const std::string line = text.substr(row, text.find('\n', row) - row);
    const bool is_yes = line.find("| yes |") != std::string::npos;
    REQUIRE(is_yes != (line.find("| no |") != std::string::npos));
    return is_yes;
}

} // namespace

TEST_CASE("every rank sends to every peer once and receives from every peer once, never itself") {
    const int served = for_every_schedule([](const Schedule&, const Layout& layout, const AllSteps& steps) {
        bool are_visited = true;
        for (Rank rank = 0; rank < layout.ranks(); ++rank) {
            const std::vector<Step>& own = steps[static_cast<std::size_t>(rank)];
            REQUIRE(own.size() == static_cast<std::size_t>(layout.ranks() - 1));
            std::vector<Rank> targets;
            std::vector<Rank> sources;
            for (const Step& step : own) {
                targets.push_back(step.send_to);
                sources.push_back(step.receive_from);
            }
            are_visited = are_visited && visits_every_peer_once(targets, rank, layout.ranks()) &&
                          visits_every_peer_once(sources, rank, layout.ranks());
        }
        REQUIRE(are_visited);
    });
    CHECK(served > 5 * kMostRanks);
}

TEST_CASE("in a matched schedule each rank is sent to by exactly the rank it receives from") {
    std::map<std::string_view, bool> is_matched;
    for (const Schedule& schedule : schedules()) is_matched[schedule.name] = is_called_matched(schedule);
    for_every_schedule([&](const Schedule& schedule, const Layout& layout, const AllSteps& steps) {
        if (!is_matched[schedule.name]) return;
        bool all_match = true;
        for (std::size_t i = 0; i + 1 < static_cast<std::size_t>(layout.ranks()); ++i) {
            std::vector<int> arrivals(static_cast<std::size_t>(layout.ranks()));
            for (Rank rank = 0; rank < layout.ranks(); ++rank) {
                const auto target = static_cast<std::size_t>(steps[static_cast<std::size_t>(rank)][i].send_to);
                all_match = all_match && ++arrivals[target] == 1 && steps[target][i].receive_from == rank;
            }
        }
        REQUIRE(all_match);
    });
}

TEST_CASE("a schedule that is not called matched is not") {
    for (const Schedule& schedule : schedules()) {
        if (is_called_matched(schedule)) continue;
        CAPTURE(schedule.name);
        const Layout layout = Layout::blocks(16, 16);
        const AllSteps steps = all_steps(schedule, layout);
        std::set<Rank> first_targets;
        for (const auto& own : steps) first_targets.insert(own.front().send_to);
        CHECK(first_targets.size() < 16);
    }
}

TEST_CASE("shift, xor and naive are their formulas") {
    const Layout layout = Layout::blocks(8, 4);
    for (Rank r = 0; r < 8; ++r) {
        for (int i = 1; i < 8; ++i) {
            const auto at = static_cast<std::size_t>(i - 1);
            CHECK(find_schedule("shift").steps(r, layout, kSeed)[at] == Step{(r + i) % 8, (r - i + 8) % 8});
            CHECK(find_schedule("xor").steps(r, layout, kSeed)[at] == Step{r ^ i, r ^ i});
            const Rank peer = i - 1 < r ? i - 1 : i;
            CHECK(find_schedule("naive").steps(r, layout, kSeed)[at] == Step{peer, peer});
        }
    }
}

TEST_CASE("xor serves powers of two only and says what else there is") {
    for (int ranks = 1; ranks <= kMostRanks; ++ranks) {
        CAPTURE(ranks);
        const auto refusal = find_schedule("xor").refusal(Layout::blocks(ranks, 4));
        bool is_power = false;
        for (int power = 1; power <= kMostRanks; power *= 2) is_power = is_power || ranks == power;
        CHECK(refusal.has_value() == !is_power);
        if (refusal) CHECK(refusal->find("shift") != std::string::npos);
    }
}

TEST_CASE("node-shift serves even ranks per node only and says what else there is") {
    const Schedule& node_shift = find_schedule("node-shift");
    CHECK_FALSE(node_shift.refusal(Layout::blocks(12, 4)));
    CHECK_FALSE(node_shift.refusal(dealt(12, 4)));
    for (const Layout& uneven : {Layout::blocks(13, 4), dealt(13, 4), Layout({0, 0, 1})}) {
        const auto refusal = node_shift.refusal(uneven);
        REQUIRE(refusal);
        CHECK(refusal->find("shift takes") != std::string::npos);
    }
    CHECK(*node_shift.refusal(Layout({0, 0, 1})) ==
          "node-shift needs the same number of ranks on every node, not 1 to 2: shift takes any number");
}

TEST_CASE("in each step of node-shift all traffic of a node goes to one node") {
    const Schedule& node_shift = find_schedule("node-shift");
    int several_nodes = 0;
    for (int ranks = 2; ranks <= kMostRanks; ++ranks) {
        for (const Layout& layout : layouts_of(ranks)) {
            if (node_shift.refusal(layout)) continue;
            several_nodes += layout.nodes() > 1 && layout.ranks_per_node() > 1 ? 1 : 0;
            const AllSteps steps = all_steps(node_shift, layout);
            for (std::size_t i = 0; i + 1 < static_cast<std::size_t>(ranks); ++i) {
                for (const auto& on_node : layout.rank_at()) {
                    std::set<int> targets;
                    std::set<int> sources;
                    for (const Rank rank : on_node) {
                        const Step& step = steps[static_cast<std::size_t>(rank)][i];
                        targets.insert(layout.node_of(step.send_to));
                        sources.insert(layout.node_of(step.receive_from));
                    }
                    REQUIRE(targets.size() == 1);
                    REQUIRE(sources.size() == 1);
                }
            }
        }
    }
    CHECK(several_nodes > 50);
}

TEST_CASE("node-shift is its formula: k steps to a node, then to the next one") {
    // 3 nodes of 2 ranks, dealt out: node 0 has ranks 0 and 3, node 1 ranks 1 and 4, node 2 ranks 2 and 5
    const auto steps = find_schedule("node-shift").steps(0, dealt(6, 3), kSeed);
    CHECK(steps == std::vector<Step>{{3, 3}, {1, 2}, {4, 5}, {2, 1}, {5, 4}});
}

TEST_CASE("permutation is shift under another numbering of the ranks") {
    const Schedule& permutation = find_schedule("permutation");
    for (int ranks = 2; ranks <= kMostRanks; ++ranks) {
        CAPTURE(ranks);
        const Layout layout = Layout::blocks(ranks, 4);
        const AllSteps steps = all_steps(permutation, layout);
        // The numbering, read off the first steps of all ranks: each sends to its successor.
        std::vector<Rank> order{0};
        while (order.size() < static_cast<std::size_t>(ranks)) {
            order.push_back(steps[static_cast<std::size_t>(order.back())].front().send_to);
        }
        const auto size = static_cast<std::size_t>(ranks);
        for (std::size_t j = 0; j < size; ++j) {
            for (std::size_t i = 1; i < size; ++i) {
                const Step expected{order[(j + i) % size], order[(j + size - i) % size]};
                REQUIRE(steps[static_cast<std::size_t>(order[j])][i - 1] == expected);
            }
        }
    }
}

TEST_CASE("the seed decides, and only where there is chance") {
    const Layout layout = Layout::blocks(32, 4);
    for (const Schedule& schedule : schedules()) {
        CAPTURE(schedule.name);
        const AllSteps steps = all_steps(schedule, layout, 1);
        CHECK(steps == all_steps(schedule, layout, 1));
        const bool has_chance = schedule.name == "permutation" || schedule.name == "random";
        CHECK((steps != all_steps(schedule, layout, 2)) == has_chance);
    }
}

TEST_CASE("in the random schedule each rank has an order of its own") {
    const Layout layout = Layout::blocks(32, 4);
    std::set<std::vector<Rank>> orders;
    for (Rank rank = 0; rank < 32; ++rank) {
        std::vector<Rank> distances;
        for (const Step& step : find_schedule("random").steps(rank, layout, kSeed)) {
            distances.push_back((step.send_to - rank + 32) % 32);
        }
        orders.insert(distances);
    }
    CHECK(orders.size() == 32);
}

TEST_CASE("docs/schedules.md has a row and a chapter for every schedule") {
    const std::string text = documentation();
    REQUIRE_FALSE(text.empty());
    for (const Schedule& schedule : schedules()) {
        CAPTURE(schedule.name);
        CHECK(text.find(fmt::format("| `{}` |", schedule.name)) != std::string::npos);
        CHECK(text.find(fmt::format("**{}.**", schedule.name)) != std::string::npos);
    }
}

TEST_CASE("schedules are found by name, in the order of the help") {
    std::vector<std::string_view> names;
    for (const Schedule& schedule : schedules()) {
        names.push_back(schedule.name);
        CHECK(&find_schedule(schedule.name) == &schedule);
        CHECK_FALSE(schedule.formula.empty());
    }
    CHECK(names == std::vector<std::string_view>{"shift", "xor", "permutation", "random", "naive", "node-shift",
                                                 "greedy", "coloured", "node-aware"});
    CHECK_THROWS_WITH_AS(
        find_schedule("ring"),
        "unknown schedule 'ring': expected one of shift, xor, permutation, random, naive, node-shift, greedy, "
        "coloured, node-aware",
        UsageError);
}
