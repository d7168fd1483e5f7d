// SPDX-License-Identifier: BSD-3-Clause
// Goldens: test/golden/table.*. A changed layout is a decision: write them anew with A2APERF_WRITE_GOLDENS=1 and
// read the difference.
#include "a2aperf/record/table.hpp"

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "a2aperf/record/record_writer.hpp"
#include "support/file_bytes.hpp"
#include "support/schema.hpp"
#include "support/synthetic.hpp"

using namespace a2aperf;

namespace {

// A sentinel, a point with its baseline, one skipped, one of 3 ops, one without any valid op.
std::string synthetic_table(Format format) {
    const Layout layout({0, 0, 0, 1, 1});
    const Provenance provenance = test::synthetic_provenance(layout);
    const Plan plan = test::synthetic_plan(9);
    TableWriter table(format, test::kSchema.columns, layout, "tcp;ofi_rxm");
    std::string text = table.header();
    for (const int p : {0, 1, 2, 3, 5, 7}) {
        const Point& point = plan.points[static_cast<std::size_t>(p)];
        PointResult result = test::synthetic_result(p, plan, layout, p == 3 ? 3 : 120, provenance);
        if (p == 1) {
            result.summary.ratio = 1.13;
            result.summary.ratio_low = 1.104;
            result.summary.ratio_high = 1.162;
        }
        if (p == 2) result.summary.ratio = 1 / 1.13; // the partner's, the other way round
        if (p == 5) {
            result.samples.valid.assign(result.samples.valid.size(), 0);
            result.summary = summarise(result.samples, layout, point.message_size, {});
        }
        text += table.row({point, point.is_skipped() ? nullptr : &result});
    }
    return text + table.footer();
}

void check_golden(Format format, const std::string& name) {
    const std::string file = SOURCE_ROOT "/test/golden/" + name;
    const std::string text = synthetic_table(format);
    if (std::getenv("A2APERF_WRITE_GOLDENS") != nullptr) std::ofstream(file) << text;
    CHECK(text == test::bytes_of(file));
}

} // namespace

TEST_CASE("the table's golden") {
    check_golden(Format::table, "table.txt");
}
TEST_CASE("the wide table's golden") {
    check_golden(Format::wide, "table-wide.txt");
}
TEST_CASE("the compatible table's golden") {
    check_golden(Format::compat, "table-compat.txt");
}
TEST_CASE("the csv table's golden") {
    check_golden(Format::csv, "table.csv");
}
TEST_CASE("the json table's golden") {
    check_golden(Format::json, "table.json");
}

TEST_CASE("compat is the table of 2019, byte by byte") {
    // Its first 216 rows: 9 rank counts of 24 sizes under one header.
    const std::string original = test::bytes_of(SOURCE_ROOT "/analysis/tests/data/alltoall-omnipath-2019.txt");
    std::istringstream lines(original);
    std::string line;
    TableWriter table(Format::compat, test::kSchema.columns, Layout::blocks(20, 1), "psm2");
    std::string expected;
    std::string written = table.header();
    int rows = 0;
    while (rows < 216 && std::getline(lines, line)) {
        expected.append(line).append("\n");
        if (line.empty() || line.front() == '#') continue;
        std::istringstream fields(line);
        Point point;
        PointResult result;
        Summary& summary = result.summary;
        fields >> result.samples.ranks >> point.message_size >> summary.count >> summary.min >> summary.mean >>
            summary.p50 >> summary.p90 >> summary.p99 >> summary.gbps.compat;
        REQUIRE(static_cast<bool>(fields));
        for (double* time : {&summary.min, &summary.mean, &summary.p50, &summary.p90, &summary.p99}) *time *= 1000;
        written += table.row({point, &result});
        ++rows;
    }
    CHECK(rows == 216);
    CHECK(written == expected);
}

TEST_CASE("in the wide table a percentile that too few ops can't give is marked") {
    const Layout layout = Layout::blocks(2, 1);
    const Provenance provenance = test::synthetic_provenance(layout);
    const Plan plan = test::synthetic_plan(3);
    const auto marks = [&](int attempts) {
        const PointResult result = test::synthetic_result(1, plan, layout, attempts, provenance);
        const std::string row =
            TableWriter(Format::wide, test::kSchema.columns, layout, "net").row({plan.points[1], &result});
        std::size_t count = 0;
        for (std::size_t at = row.find("=max"); at != std::string::npos; at = row.find("=max", at + 1)) ++count;
        return count;
    };
    CHECK(marks(5) == 2);   // p90 and p99
    CHECK(marks(50) == 1);  // p99
    CHECK(marks(150) == 0); // 135 valid ones
}

TEST_CASE("json and csv quote what they must") {
    const Layout layout = Layout::blocks(2, 1);
    Point point;
    point.mode = "tagged";
    point.skip_reason = "a \"quoted\",\nbroken\tline \\ \xFF";
    const std::string json = TableWriter(Format::json, test::kSchema.columns, layout, "net").row({point, nullptr});
    CHECK(json.find(R"("skip_reason": "a \"quoted\",\u000abroken\u0009line \\ )"
                    "\uFFFD\"") != std::string::npos);
    const std::string csv = TableWriter(Format::csv, test::kSchema.columns, layout, "net").row({point, nullptr});
    CHECK(csv.find("\"a \"\"quoted\"\",\nbroken\tline \\ \xFF\"") != std::string::npos);
}

TEST_CASE("what a spreadsheet would take for a formula has a ' in front, as a2a's csv has") {
    const auto shown = [](const std::string& text) {
        const std::vector<std::optional<Value>> fields{text, -1.5, std::int64_t{-2}};
        return RecordWriter(false, {"text", "figure", "count"}).row(fields);
    };
    for (const char* text : {"=1+1", "+a", "-", "-inf", "@SUM(A1)", "=", "-1-1"})
        CHECK(shown(text) == fmt::format("'{},-1.5,-2\n", text));
    CHECK(shown("=A1,B1") == "\"'=A1,B1\",-1.5,-2\n");
    for (const char* text : {"a=b", "-12", "+1.5e-3", "nid001", ""})
        CHECK(shown(text) == fmt::format("{},-1.5,-2\n", text));
    const std::vector<std::optional<Value>> fields{std::string("=1")};
    CHECK(RecordWriter(true, {"text"}).row(fields) == "\n  {\"text\": \"=1\"}");
}

TEST_CASE("a heading begins with shared cores, where people read it") {
    const Layout layout = Layout::blocks(4, 4);
    for (const Format format : {Format::table, Format::wide})
        CHECK(TableWriter(format, test::kSchema.columns, layout, "shm", "oversubscribed: 4 ranks on 2 cores")
                  .header()
                  .starts_with("# oversubscribed: 4 ranks on 2 cores\n# shm, 4 ranks"));
    CHECK(TableWriter(Format::csv, test::kSchema.columns, layout, "shm", "oversubscribed: 4 ranks on 2 cores")
              .header()
              .starts_with("role,"));
}

TEST_CASE("a row says why its point stopped short") {
    const Layout layout({0, 0, 0, 1, 1});
    const Plan plan = test::synthetic_plan(9);
    PointResult result = test::synthetic_result(1, plan, layout, 120, test::synthetic_provenance(layout));
    const std::string start = "ops start at a barrier";
    TableWriter table(Format::table, test::kSchema.columns, layout, "tcp", "", start);
    CHECK(table.header().starts_with("# tcp, 5 ranks on 2 nodes, ops start at a barrier; times"));
    const auto row = [&](StopRule rule) {
        result.stop_rule = rule;
        return table.row({plan.points[1], &result});
    };
    for (const StopRule rule : {StopRule::ops, StopRule::precision})
        CHECK(row(rule).find(", ended") == std::string::npos);
    CHECK(row(StopRule::time_budget).ends_with(", ended by --time-budget\n"));
    CHECK(row(StopRule::max_ops).ends_with(", --precision not reached at --max-ops\n"));
    const auto attempts = result.summary.count + result.summary.invalid;
    CHECK(row(StopRule::attempts).ends_with(", ended after " + std::to_string(attempts) + " attempts\n"));
}

TEST_CASE("what goes one way from a barrier has a bound, and no rate and share of it") {
    const Layout layout({0, 0, 0, 1, 1});
    const Plan plan = test::synthetic_plan(9);
    PointResult result = test::synthetic_result(1, plan, layout, 120, test::synthetic_provenance(layout));
    const auto matrix = std::make_shared<TrafficMatrix>(5);
    matrix->set(4, 0, 1);
    Point point = plan.points[1];
    point.traffic = std::make_shared<Traffic>("incast", 0, matrix, layout, 1000);
    result.summary.bound = 2500;
    result.summary.bound_share = kAbsent;
    result.summary.gbps = {};
    TableWriter table(Format::table, test::kSchema.columns, layout, "tcp");
    const std::string row = table.row({point, &result});
    CHECK(row.find(", bound 2.50 µs (") != std::string::npos);
    CHECK(row.find(", no rate: barrier start and messages that go one way") != std::string::npos);
    CHECK(row.find("nan") == std::string::npos);
}

TEST_CASE("of traffic of which all ranks have the same to move none is the busiest") {
    const Layout layout({0, 0, 0, 0, 0});
    const Plan plan = test::synthetic_plan(9);
    PointResult result = test::synthetic_result(1, plan, layout, 120, test::synthetic_provenance(layout));
    const auto matrix = std::make_shared<TrafficMatrix>(5);
    for (Rank rank = 0; rank < 5; ++rank) matrix->set(rank, (rank + 1) % 5, 1);
    Point point = plan.points[1];
    point.traffic = std::make_shared<Traffic>("shift=1", 0, matrix, layout, 1000);
    result.summary.bound = kAbsent;
    result.summary.busiest = Busiest::rank_sends;
    result.summary.busiest_index = 0;
    TableWriter table(Format::table, test::kSchema.columns, layout, "shm");
    const auto row = [&](double imbalance) {
        result.summary.imbalance = imbalance;
        return table.row({point, &result});
    };
    CHECK(row(1).find(", imbalance 1.00\n") != std::string::npos);
    CHECK(row(1.5).find(", imbalance 1.50 (rank 0 sends)\n") != std::string::npos);
}

TEST_CASE("a table without rows is whole") {
    const TableWriter json(Format::json, test::kSchema.columns, Layout::blocks(2, 1), "net");
    CHECK(json.header() + json.footer() == "[\n]\n");
}
