// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/plan/interference_plan.hpp"

#include <doctest/doctest.h>

#include "a2aperf/base/error.hpp"
#include "a2aperf/plan/point.hpp"

using namespace a2aperf;

using Ranks = std::vector<Rank>;
using Pairs = std::vector<StreamPair>;

TEST_CASE("phases: the load alone, then alternations that turn around") {
    const Phases phases{.length = 100, .alternations = 3};
    CHECK(phases.count() == 7);
    CHECK(phases.total() == 700);
    std::vector<SampleKind> kinds;
    for (int phase = 0; phase < phases.count(); ++phase) kinds.push_back(phases.kind_of(phase));
    using enum SampleKind;
    CHECK(kinds == std::vector{load, alone, loaded, loaded, alone, alone, loaded});
    CHECK(phases.at(-1) == -1);
    CHECK(phases.at(0) == 0);
    CHECK(phases.at(99) == 0);
    CHECK(phases.at(100) == 1);
    CHECK(phases.at(10'000) == 7);
    CHECK(phases.kind_at(119) == unsettled);
    CHECK(phases.kind_at(120) == alone);
    CHECK(phases.kind_at(-1) == unsettled);
    CHECK(phases.kind_at(700) == unsettled);
}

TEST_CASE("a phase is of one kind until it has settled, and from then on until its end") {
    const Phases phases{.length = 1000, .alternations = 2};
    CHECK(phases.counted() == 800);
    CHECK(phases.end_of_kind(0) == 200);
    CHECK(phases.end_of_kind(199) == 200);
    CHECK(phases.end_of_kind(200) == 1000);
    CHECK(phases.end_of_kind(999) == 1000);
    CHECK(phases.end_of_kind(1000) == 1200);
    CHECK(phases.end_of_kind(4999) == 5000);
    for (const Nanoseconds offset : {0, 199, 200, 1500, 3100}) {
        const Nanoseconds last = phases.end_of_kind(offset) - 1;
        CHECK(phases.at(last) == phases.at(offset));
        CHECK(phases.kind_at(last) == phases.kind_at(offset));
    }
}

TEST_CASE("sides share each node, or have nodes of their own") {
    const Layout layout = Layout::blocks(8, 2);
    const Sides same = sides_of(layout, Placement::same);
    CHECK(same.victims == Ranks{0, 2, 4, 6});
    CHECK(same.load == Ranks{1, 3, 5, 7});
    const Sides other = sides_of(layout, Placement::other);
    CHECK(other.victims == Ranks{0, 1, 2, 3});
    CHECK(other.load == Ranks{4, 5, 6, 7});
    const Sides interleaved = sides_of(layout, Placement::interleaved);
    CHECK(interleaved.victims == Ranks{0, 1, 4, 5});
    CHECK(interleaved.load == Ranks{2, 3, 6, 7});
    CHECK(sides_of(Layout::blocks(5, 5), Placement::same).load == Ranks{2, 3, 4});
}

TEST_CASE("where a side would be too small is told") {
    const auto refused = [](const Layout& layout, Placement placement, const char* words) {
        CHECK_THROWS_WITH_AS(sides_of(layout, placement), doctest::Contains(words), UsageError);
    };
    refused(Layout::blocks(4, 4), Placement::other, "other needs 2 nodes");
    refused(Layout::blocks(4, 1), Placement::same, "needs 2 ranks on each node");
    refused(Layout::blocks(3, 3), Placement::same, "victims need 2 ranks, and 3 ranks on 1 node leave them 1");
    refused(Layout::blocks(3, 2), Placement::other, "load ranks need 2 ranks, and 3 ranks on 2 nodes leave them 1");
}

TEST_CASE("victims ask across the halves, all of them") {
    CHECK(victim_pairs({0, 2, 4, 6}, VictimKind::echo) == Pairs{{0, 4}, {2, 6}});
    CHECK(victim_pairs({0, 2, 4}, VictimKind::echo) == Pairs{{0, 4}, {2, 4}});
    CHECK(victim_pairs({0, 2, 4}, VictimKind::stream) == Pairs{{4, 0}, {4, 2}}); // the way of the answers
    CHECK(victim_pairs({0, 2, 4}, VictimKind::all_to_all) == Pairs{{0, 2}, {0, 4}, {2, 4}, {2, 0}, {4, 0}, {4, 2}});
}

TEST_CASE("who of the load sends to whom") {
    const Ranks load{1, 3, 5};
    CHECK(load_pairs(load, LoadPattern::all_to_all) == Pairs{{1, 3}, {1, 5}, {3, 5}, {3, 1}, {5, 1}, {5, 3}});
    CHECK(load_pairs(load, LoadPattern::incast) == Pairs{{3, 1}, {5, 1}});
    CHECK(load_pairs(load, LoadPattern::permutation) == Pairs{{1, 3}, {3, 5}, {5, 1}});
    CHECK(load_pairs(load, LoadPattern::hotspot) == Pairs{{1, 3}, {3, 5}, {5, 1}, {3, 1}});
    CHECK(load_pairs(load, LoadPattern::stream) == Pairs{{5, 1}});
}

TEST_CASE("room is that of the side that needs more, and all sizes are verified") {
    InterferencePlan plan;
    plan.victims = {{0, 1}};
    plan.load = {{2, 3}, {4, 3}};
    plan.request_size = 30;
    plan.load_size = 1000;
    plan.load_window = 8;
    Point point;
    point.message_size = 64;
    const FlowRoom room = plan.room(point);
    CHECK(room.receives == 16);
    CHECK(room.messages == 16);
    CHECK(room.sends == 8);
    CHECK(plan.bytes(point) == 16 * 1024);
    CHECK(plan.is_load(3));
    CHECK(!plan.is_load(1));
    std::vector<Bytes> sizes;
    for (const VerifiedSize& one : plan.verified(point)) sizes.push_back(one.size);
    CHECK(sizes == std::vector<Bytes>{64, 30, 1000});
    CHECK(plan.victims_text() == "0:1");
    CHECK(plan.payload(point) == 64);
}

TEST_CASE("victims that stream have room for their windows") {
    InterferencePlan plan;
    plan.load = {{3, 4}};
    plan.request_size = 30;
    plan.load_size = 8;
    plan.kind = VictimKind::stream;
    plan.victims = {{1, 0}, {2, 0}};
    plan.victim_window = 40;
    Point point;
    point.message_size = 1000;
    CHECK(plan.room(point).messages == 80);
    CHECK(plan.bytes(point) == 80 * 1024);
    CHECK(plan.victims_text() == "1:0,2:0");
    CHECK(plan.payload(point) == 40'000);
    CHECK(plan.verified(point).size() == 2);
}

TEST_CASE("victims of an all-to-all have room for a message of each other") {
    InterferencePlan plan;
    plan.load = {{3, 4}};
    plan.load_size = 8;
    plan.kind = VictimKind::all_to_all;
    plan.victims = victim_pairs({0, 1, 2}, plan.kind);
    plan.victim_window = 2;
    Point point;
    point.message_size = 1000;
    CHECK(plan.room(point).messages == 2);
    CHECK(plan.bytes(point) == (2 + 2 * kStreamCredits) * 1024);
    CHECK(plan.victims_text() == "0,1,2");
    CHECK(plan.payload(point) == 2000);
    CHECK(plan.label(point).find(" all-to-all of 3 ranks ") != std::string::npos);
}
