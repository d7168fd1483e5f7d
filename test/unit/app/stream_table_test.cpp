// SPDX-License-Identifier: BSD-3-Clause
#include "app/stream_table.hpp"

#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "a2aperf/plan/stream_plan.hpp"
#include "app/workload.hpp"

using namespace a2aperf;

namespace {

constexpr int kMessages = 6;

Point stream_point() {
    auto stream = std::make_shared<StreamPlan>();
    stream->pairs = "halves";
    stream->who = {{0, 1}};
    Point point;
    point.mode = "tagged";
    point.message_size = 1000;
    point.flow = stream;
    return point;
}

// Rank 0 sends to rank 1, which has all of them so many ns after the first was started.
PointResult measured(const Point& point, Nanoseconds time, double clock_error_ns) {
    PointResult result;
    Samples& samples = result.samples;
    samples.ranks = 2;
    samples.begin = {5000, 5000};
    samples.recv_done = samples.send_done = {5000 + time, 5000 + time};
    samples.clock_error_ns = result.clock_error_ns = clock_error_ns;
    samples.own["messages_sent"] = {kMessages, 0};
    samples.own["messages_received"] = {0, kMessages};
    samples.own["rank_longest_wait"] = {0, 0};
    result.summary.count = 1;
    work_out(stream().schema().columns, result, point, Layout::blocks(2, 1));
    return result;
}

std::string row_of(const Point& point, const PointResult& result, Format format) {
    Plan plan;
    plan.points = {point};
    return StreamTable(format, Layout::blocks(2, 1), "net", plan).row({point, &result});
}

} // namespace

TEST_CASE("a stream has the rates of its time") {
    const Point point = stream_point();
    const PointResult result = measured(point, 3000, 500);
    CHECK(result.figures.at("stream_time") == 3000);
    CHECK(result.figures.at("gbps") == doctest::Approx(kMessages * 1000 * 8 / 3000.0));
    CHECK(row_of(point, result, Format::table).find("16.000") != std::string::npos);
}

TEST_CASE("a time that the start does not carry is no figure, and no rate follows from it") {
    const Point point = stream_point();
    const std::vector<std::pair<Nanoseconds, double>> untold{{1, 0}, {kMessages, 0}, {0, 0}, {400, 400}};
    for (const auto& [time, error] : untold) {
        const PointResult result = measured(point, time, error);
        for (const char* figure : {"stream_time", "msg_rate", "byte_rate", "gbps"})
            CHECK(std::isnan(result.figures.at(figure)));
        CHECK(result.figures.at("messages") == kMessages);
        CHECK(result.figures.at("bytes") == kMessages * 1000);
        const std::string row = row_of(point, result, Format::table);
        CHECK(row.find("nan") == std::string::npos);
        CHECK(row.find("—") != std::string::npos);
        const std::string said = row_of(point, result, Format::loopback);
        CHECK(said.find("nan") == std::string::npos);
        // Five values would be no row of this layout.
        CHECK(said.find(fmt::format("# 1000 B without a time: {} messages\n", kMessages)) != std::string::npos);
    }
}
