// SPDX-License-Identifier: BSD-3-Clause
#include "app/interference_table.hpp"

#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "support/written.hpp"

using namespace a2aperf;

namespace {

Point point_of(int level, Bytes load_size = 65536) {
    InterferencePlan plan;
    plan.level = level;
    plan.load_size = load_size;
    Point point;
    point.mode = "tagged";
    point.flow = std::make_shared<InterferencePlan>(plan);
    return point;
}

// What is said below the table of a point: rates in Gbit/s, with load and where there should be none.
std::string said_of(int level, double load, double rest, double silent = 0) {
    PointResult result;
    result.figures = {{"silent_phases", silent}, {"load_gbps", load}, {"load_rest_gbps", rest}};
    const auto table = make_interference_table("2 ranks", VictimKind::echo, false);
    table->add(point_of(level), result);
    return test::stderr_of([&] {
        Progress progress(Progress::Style::log, TimeLeft({}));
        table->close(progress);
    });
}

bool tells(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("load that lingers is told as a share of what came under load") {
    CHECK(tells(said_of(100, 4, 0.2), "load still came in phases that should have none, 5.0 % of what came in the "
                                      "others: a longer --phase lets it end before they count"));
    CHECK(said_of(100, 4, 0.03) == ""); // below 1 %
    CHECK(said_of(100, 4, 0) == "");
}

TEST_CASE("at level 0 there is no load that it could be a share of: it is told as a rate") {
    const std::string said = said_of(0, 0, 0.125);
    CHECK(tells(said, "level 0 %"));
    CHECK(tells(said, "load still came in phases without any, 0.125 Gbit/s: a longer --phase"));
    CHECK_FALSE(tells(said, "inf"));
    CHECK(said_of(0, 0, 0) == "");
}

TEST_CASE("a load that did not come is told, and no impact is shown") {
    CHECK(tells(said_of(50, 0, 0), "level 50 %"));
    CHECK(tells(said_of(50, 0, 0), "no load came in the phases that should have it"));
    CHECK_FALSE(tells(said_of(50, 0.1, 0), "no load came"));
    PointResult result;
    for (const char* name : {"alone_p50", "loaded_p50", "alone_p99", "loaded_p99"}) result.figures[name] = 5000;
    for (const char* name : {"impact_p50", "impact_p50_low", "impact_p50_high", "impact_mean", "impact_mean_low",
                             "impact_mean_high", "impact_p99", "impact_p99_low", "impact_p99_high"})
        result.figures[name] = 1.25;
    const auto table = make_interference_table("2 ranks", VictimKind::echo, false);
    const auto row_of = [&](double load, Bytes load_size = 65536) {
        result.figures["load_gbps"] = load;
        const Point point = point_of(50, load_size);
        return table->row({point, &result});
    };
    CHECK(tells(row_of(3), "1.25"));
    CHECK_FALSE(tells(row_of(0), "1.25"));
    CHECK(tells(row_of(0, 0), "1.25")); // no rate tells whether messages of no bytes came
}

TEST_CASE("phases without a round trip are told with their number") {
    CHECK(tells(said_of(100, 4, 0, 1), "in 1 phase no round trip began that counts"));
    CHECK(tells(said_of(100, 4, 0, 3), "in 3 phases no round trip began that counts"));
}

TEST_CASE("a class of the load that is not granted is told once, with the reason where a rank has one") {
    const auto said = [](double granted, std::vector<std::string> told) {
        PointResult result;
        result.figures = {
            {"silent_phases", 0}, {"load_gbps", 4}, {"load_rest_gbps", 0}, {"load_class_granted", granted}};
        result.told = std::move(told);
        InterferencePlan plan;
        plan.level = 100;
        plan.load_class = TrafficClass::parse("bulk");
        Point point;
        point.flow = std::make_shared<InterferencePlan>(plan);
        const auto table = make_interference_table("2 ranks", VictimKind::echo, false);
        for (int i = 0; i < 2; ++i) table->add(point, result);
        return test::stderr_of([&] {
            Progress progress(Progress::Style::log, TimeLeft({}));
            table->close(progress);
        });
    };
    const std::string words = "warning: the load's class bulk is not granted to every rank of it";
    CHECK(tells(said(0, {"", "", "", "no such queue"}), words + ": no such queue\n"));
    CHECK(tells(said(0, {}), words + "\n")); // of a launch before
    const std::string once = said(0, {"", "why"});
    CHECK(once.find(words) == once.rfind(words));
    CHECK(said(1, {"", ""}) == "");
    CHECK(said(std::nan(""), {}) == "");
}
