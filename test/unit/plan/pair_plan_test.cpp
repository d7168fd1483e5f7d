// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/plan/pair_plan.hpp"

#include <algorithm>
#include <set>

#include <doctest/doctest.h>

using namespace a2aperf;

namespace {

std::optional<std::string> never(const Point& /*point*/) {
    return std::nullopt;
}

PairAxes axes_of(std::vector<Bytes> sizes) {
    PairAxes axes;
    axes.sizes = std::move(sizes);
    axes.mode = "tagged";
    return axes;
}

} // namespace

TEST_CASE("all distances meet every ordered pair once") {
    for (const int ranks : {2, 3, 4, 7}) {
        CAPTURE(ranks);
        const Layout layout = Layout::blocks(ranks, 2);
        std::set<std::pair<Rank, Rank>> pairs;
        const Plan plan = make_pair_plan(axes_of({8}), layout, never);
        for (const Point& point : plan.points)
            for (Rank rank = 0; rank < ranks; ++rank) {
                const Peers peers = point.peers(rank, layout, 1);
                REQUIRE(peers.sends.size() == 1);
                REQUIRE(peers.receives.size() == 1);
                CHECK(pairs.emplace(rank, peers.sends[0]).second);
                CHECK(point.peers(peers.sends[0], layout, 1).receives[0] == rank);
            }
        CHECK(pairs.size() == static_cast<std::size_t>(ranks * (ranks - 1)));
    }
}

TEST_CASE("some of the distances: spread, with their opposites, by the seed") {
    for (const int ranks : {3, 4, 5, 8, 9, 100, 513, 10240})
        for (const int most : {1, 2, 3, 4, 5, 7, 64, 256}) {
            CAPTURE(ranks);
            CAPTURE(most);
            const auto distances = pair_distances(ranks, most, 1);
            CHECK(distances == pair_distances(ranks, most, 1));
            CHECK(distances.front() == 1);
            CHECK(static_cast<int>(distances.size()) <= std::min(most, ranks - 1));
            CHECK(static_cast<int>(distances.size()) >= std::min(most - 1, ranks - 1));
            CHECK(std::adjacent_find(distances.begin(), distances.end(), std::greater_equal<>()) ==
                  distances.end());
            CHECK(distances.back() < ranks);
            if (most == 1) continue;
            for (const int distance : distances)
                CHECK(std::binary_search(distances.begin(), distances.end(), ranks - distance));
        }
    const auto distances = pair_distances(10240, 256, 1);
    CHECK(distances.size() == 256);
    CHECK(distances != pair_distances(10240, 256, 2));
    for (std::size_t i = 1; i < distances.size(); ++i) CHECK(distances[i] - distances[i - 1] <= 3 * 10240 / 256);
}

TEST_CASE("all distances by default, above 512 ranks a quarter of a thousand") {
    const auto points = [](int ranks, std::optional<int> most) {
        PairAxes axes = axes_of({8});
        axes.most_steps = most;
        return make_pair_plan(axes, Layout::blocks(ranks, 1), never).points.size();
    };
    CHECK(points(2, std::nullopt) == 1);
    CHECK(points(512, std::nullopt) == 511);
    CHECK(points(513, std::nullopt) == 256);
    CHECK(points(513, 512) == 512);
    CHECK(points(20, 4) == 4);
}

TEST_CASE("sizes run fastest, a shuffle moves whole steps") {
    PairAxes axes = axes_of({8, 1000});
    const Layout layout = Layout::blocks(10, 1);
    const Plan declared = make_pair_plan(axes, layout, never);
    CHECK(declared.points[0].distance == 1);
    CHECK(declared.points[1].distance == 1);
    CHECK(declared.points[1].message_size == 1000);
    CHECK(declared.points[2].distance == 2);
    CHECK(std::is_sorted(declared.order.begin(), declared.order.end()));
    CHECK(declared.points[0].role_name() == "pair");

    axes.order = Order::shuffled;
    axes.seed = 7;
    const Plan shuffled = make_pair_plan(axes, layout, never);
    CHECK_FALSE(std::is_sorted(shuffled.order.begin(), shuffled.order.end()));
    CHECK(shuffled.order.size() == 18);
    for (std::size_t i = 0; i < shuffled.order.size(); i += 2) {
        CHECK(shuffled.order[i] % 2 == 0);
        CHECK(shuffled.order[i + 1] == shuffled.order[i] + 1);
    }
}

TEST_CASE("what cannot be measured is in the plan, with its reason, and not in the order") {
    const auto no_large = [](const Point& point) -> std::optional<std::string> {
        if (point.message_size > 100) return "too large";
        return std::nullopt;
    };
    const Plan plan = make_pair_plan(axes_of({8, 1000}), Layout::blocks(3, 1), no_large);
    CHECK(plan.points.size() == 4);
    CHECK(plan.points[1].skip_reason == "too large");
    CHECK(plan.order == std::vector<int>{0, 2});
}
