// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/plan/message_steps.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "a2aperf/base/error.hpp"
#include "a2aperf/base/random.hpp"
#include "a2aperf/plan/schedule.hpp"
#include "a2aperf/plan/traffic_pattern.hpp"

using namespace a2aperf;

namespace {

constexpr std::array kTraffics{"zipf=1.2",  "hot-rank=3x", "hot-node=4x", "permutation", "shift=1", "neighbours=1",
                               "sparse=5%", "sparse=30%",  "sparse=100%", "incast",      "outcast", "bisection"};

// Any shares, most of them none.
TrafficMatrix any_matrix(int ranks, std::uint64_t percent, Random random) {
    TrafficMatrix matrix(ranks);
    for (Rank from = 0; from < ranks; ++from)
        for (Rank to = 0; to < ranks; ++to)
            if (from != to && random.below(100) < percent) matrix.set(from, to, 1 + random.below(9));
    return matrix;
}

// Calls check(matrix) for every generator and for matrices of chance; returns how many.
template <class Check>
int for_every_matrix(Check check) {
    int count = 0;
    for (const int ranks : {2, 3, 4, 5, 6, 7, 8, 9, 12, 16, 31}) {
        const Layout layout = Layout::blocks(ranks, 2);
        CAPTURE(ranks);
        for (const char* text : kTraffics) {
            CAPTURE(text);
            try {
                check(TrafficPattern::parse(text).matrix(layout, static_cast<std::uint64_t>(ranks)));
                ++count;
            } catch (const UsageError&) { // too few ranks or nodes, or chance left nothing
            }
        }
        for (const std::uint64_t percent : {0, 3, 20, 50, 90}) {
            CAPTURE(percent);
            check(any_matrix(ranks, percent, Random(static_cast<std::uint64_t>(ranks) + 100 * percent)));
            ++count;
        }
    }
    return count;
}

// In each step nobody twice, both ends say the same, and all messages of the matrix once: fails where not.
void require_all_once_without_conflict(const MessageSteps& steps, const TrafficMatrix& matrix) {
    std::set<std::pair<Rank, Rank>> placed;
    for (int step = 0; step < steps.steps(); ++step) {
        std::set<Rank> receivers;
        for (Rank from = 0; from < matrix.ranks(); ++from) {
            const Rank to = steps.target(from, step);
            if (to < 0) continue;
            REQUIRE(matrix.weight(from, to) > 0);
            REQUIRE(receivers.insert(to).second);
            REQUIRE(steps.source(to, step) == from);
            REQUIRE(placed.emplace(from, to).second);
        }
        REQUIRE_FALSE(receivers.empty());
        for (Rank to = 0; to < matrix.ranks(); ++to)
            REQUIRE((steps.source(to, step) >= 0) == receivers.contains(to));
    }
    std::size_t messages = 0;
    for (Rank from = 0; from < matrix.ranks(); ++from)
        for (Rank to = 0; to < matrix.ranks(); ++to) messages += matrix.weight(from, to) > 0 ? 1 : 0;
    REQUIRE(placed.size() == messages);
}

} // namespace

TEST_CASE("coloured: each message once, nobody twice in a step, as many steps as the busiest rank has messages") {
    const int count = for_every_matrix([](const TrafficMatrix& matrix) {
        const MessageSteps steps = MessageSteps::coloured(matrix);
        REQUIRE(steps.steps() == most_messages(matrix));
        require_all_once_without_conflict(steps, matrix);
    });
    CHECK(count > 100);
}

TEST_CASE("greedy: the same in at most 2 D - 1 steps, and no message could go a step earlier") {
    for_every_matrix([](const TrafficMatrix& matrix) {
        const MessageSteps steps = MessageSteps::greedy(matrix);
        REQUIRE(steps.steps() <= std::max(2 * most_messages(matrix) - 1, 0));
        require_all_once_without_conflict(steps, matrix);
        bool is_early = true;
        for (int step = 0; step < steps.steps(); ++step)
            for (Rank from = 0; from < matrix.ranks(); ++from) {
                const Rank to = steps.target(from, step);
                if (to < 0) continue;
                // What is in its way in an earlier step is as large at least.
                for (int before = 0; before < step; ++before) {
                    const Rank other_target = steps.target(from, before);
                    const Rank other_source = steps.source(to, before);
                    const std::uint64_t in_the_way =
                        std::max(other_target < 0 ? 0 : matrix.weight(from, other_target),
                                 other_source < 0 ? 0 : matrix.weight(other_source, to));
                    is_early = is_early && in_the_way >= matrix.weight(from, to);
                }
            }
        REQUIRE(is_early);
    });
}

TEST_CASE("greedy needs more steps than there have to be, coloured does not") {
    // A ring of messages, 0 2 5 3 1 4 0: the last one's ends are free in different steps.
    TrafficMatrix matrix(6);
    matrix.set(0, 2, 9);
    matrix.set(1, 3, 9);
    matrix.set(1, 4, 8);
    matrix.set(5, 3, 1);
    matrix.set(5, 2, 1);
    matrix.set(0, 4, 1);
    const MessageSteps greedy = MessageSteps::greedy(matrix);
    CHECK(most_messages(matrix) == 2);
    CHECK(MessageSteps::coloured(matrix).steps() == 2);
    CHECK(greedy.steps() > 2);
    CHECK(greedy.target(0, 0) == 2);
    CHECK(greedy.target(1, 0) == 3);
}

TEST_CASE("a matrix of equals gives the steps of shift") {
    const Layout layout = Layout::blocks(9, 3);
    const TrafficMatrix equal = TrafficPattern::parse("sparse=100%").matrix(layout, 1);
    for (const MessageSteps& steps : {MessageSteps::greedy(equal), MessageSteps::coloured(equal)})
        for (Rank rank = 0; rank < layout.ranks(); ++rank) {
            const std::vector<Step> shift = find_schedule("shift").steps(rank, layout, 1);
            const Peers peers = steps.peers(rank);
            REQUIRE(peers.sends.size() == shift.size());
            for (std::size_t i = 0; i < shift.size(); ++i)
                REQUIRE(Step{peers.sends[i], peers.receives[i]} == shift[i]);
        }
}

TEST_CASE("a rank's peers are in the order of the steps, those it has") {
    const TrafficMatrix matrix = any_matrix(12, 40, Random(7));
    const MessageSteps steps = MessageSteps::coloured(matrix);
    for (Rank rank = 0; rank < 12; ++rank) {
        Peers expected;
        for (int step = 0; step < steps.steps(); ++step) {
            if (steps.target(rank, step) >= 0) expected.sends.push_back(steps.target(rank, step));
            if (steps.source(rank, step) >= 0) expected.receives.push_back(steps.source(rank, step));
        }
        const Peers peers = steps.peers(rank);
        CHECK(peers.sends == expected.sends);
        CHECK(peers.receives == expected.receives);
    }
}
