// SPDX-License-Identifier: BSD-3-Clause
#include "plan/point_trouble.hpp"

#include <doctest/doctest.h>

#include "a2aperf/plan/plan.hpp"

using namespace a2aperf;

namespace {

std::string reason(const Point& point, int ranks) {
    return point_trouble(point, Layout::blocks(ranks, ranks)).value_or("none");
}

} // namespace

TEST_CASE("endpoints of which one would be idle, or would have no part of the window, are trouble") {
    Point point;
    point.message_size = 1000;
    CHECK(reason(point, 2) == "none");
    point.channels = 2;
    CHECK(reason(point, 2) == "a rank has 1 peer, and each is reached over one endpoint: 1 of 2 would be idle");
    CHECK(reason(point, 3) == "none");
    point.window = 1;
    CHECK(reason(point, 3) == "a window of 1 can't be dealt over 2 endpoints");
    point.window = 2;
    CHECK(reason(point, 3) == "none");
}

TEST_CASE("more chunks than have numbers are trouble, of whatever mode") {
    Point point;
    point.message_size = 1'000'000;
    point.chunk = 1;
    CHECK(reason(point, 2) == "1000000 chunks of 1 B to each of 1 peer are too many: give larger ones");
    point.message_size = 1U << 17U;
    CHECK(reason(point, 2) == "none");
    CHECK(reason(point, 3) == "131072 chunks of 1 B to each of 2 peers are too many: give larger ones");
    point.chunk = 1U << 17U;
    CHECK(reason(point, 3) == "none"); // not cut
}

TEST_CASE("a baseline has a number of bytes that MPI has room for") {
    Point point;
    point.role = Role::baseline;
    point.message_size = (Bytes{1} << 31U) - 1;
    CHECK(reason(point, 2) == "none");
    ++point.message_size;
    CHECK(reason(point, 2) == "too large for the int count of MPI_Alltoall");
}

TEST_CASE("a plan has what is in trouble as skipped, and asks for the others alone") {
    Axes axes;
    axes.sizes = {1000};
    axes.modes = {"tagged"};
    axes.schedules = {&find_schedule("shift")};
    axes.windows = {{}, {.messages = 1}};
    axes.endpoints = {1, 2, 3};
    int asked = 0;
    const Plan plan = make_plan(axes, Layout::blocks(3, 3), [&](const Point& point) {
        ++asked;
        CHECK(point.channels < 3);
        return std::nullopt;
    });
    CHECK(plan.points.size() == 6);
    CHECK(plan.order.size() == 3);
    CHECK(asked == 3);
    CHECK(plan.points[2].skip_reason.find("would be idle") != std::string::npos);
    CHECK(plan.points[4].skip_reason == "a window of 1 can't be dealt over 2 endpoints");
}

TEST_CASE("leaders forward whole messages of uniform traffic, over one endpoint") {
    const Layout layout = Layout::blocks(4, 2);
    const auto trouble = [&](auto change) {
        Point point;
        point.message_size = 1000;
        point.forwarding = std::make_shared<Forwarding>(layout, point.message_size);
        change(point);
        return point_trouble(point, layout).value_or("none");
    };
    CHECK(trouble([](Point&) {}) == "none");
    CHECK(trouble([](Point& point) { point.chunk = 100; }) == "node-aware forwards whole messages, no chunks");
    CHECK(trouble([](Point& point) { point.channels = 2; }) ==
          "node-aware forwards over one endpoint of each rank");
    CHECK(trouble([&](Point& point) {
              const auto matrix = std::make_shared<TrafficMatrix>(layout.ranks());
              auto weights = *matrix;
              weights.set(0, 1, 1);
              point.traffic = std::make_shared<Traffic>("one", 0, std::make_shared<TrafficMatrix>(weights), layout,
                                                        point.message_size);
          }) == "node-aware forwards uniform traffic only");
}
