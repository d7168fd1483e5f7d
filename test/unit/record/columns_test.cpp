// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/record/columns.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <set>
#include <sstream>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "support/schema.hpp"

using namespace a2aperf;
using test::kSchema;

TEST_CASE("names are unique, and state is the last to be written") {
    std::set<std::string_view> names;
    for (const Column& column : kSchema.columns) CHECK(names.insert(column.name).second);
    CHECK(kSchema.columns.back().name == "state");
    CHECK(kSchema.has("state"));
    CHECK_FALSE(kSchema.has("no such"));
}

TEST_CASE("every column has exactly one source") {
    for (const Column& column : kSchema.columns) {
        CAPTURE(column.name);
        const int sources = (column.asked ? 1 : 0) + (column.outcome ? 1 : 0) + (column.place ? 1 : 0);
        CHECK(sources == (column.name == "state" ? 0 : 1));
        CHECK_FALSE(column.long_name.empty());
    }
}

TEST_CASE("what is read back gives the same values again") {
    PointResult written{};
    double next = 0.5;
    std::vector<Value> values;
    for (const Column& column : kSchema.columns) {
        if (!column.restore) continue;
        const Value value = column.kind == ValueType::float64 ? Value(next) : Value(std::int64_t{1});
        column.restore(written, value);
        values.push_back(value);
        next += 1;
    }
    std::size_t i = 0;
    for (const Column& column : kSchema.columns)
        if (column.restore) {
            CAPTURE(column.name);
            CHECK(column.outcome(written) == values[i++]); // no two columns share a member
        }
}

TEST_CASE("an unmeasured point is blank in the way of its type") {
    const auto blank = [](std::string_view name) {
        return std::find_if(kSchema.columns.begin(), kSchema.columns.end(),
                            [&](const Column& column) { return column.name == name; })
            ->blank();
    };
    CHECK(std::isnan(std::get<double>(blank("time_p50"))));
    CHECK(blank("segment") == Value(std::int64_t{-1}));
    CHECK(blank("attempts") == Value(std::int64_t{0}));
    CHECK(blank("mode") == Value(std::string()));
}

TEST_CASE("docs/file-format.md describes every column") {
    std::ifstream page(SOURCE_ROOT "/docs/file-format.md");
    std::stringstream text;
    text << page.rdbuf();
    for (const Column& column : kSchema.columns) {
        CAPTURE(column.name);
        CHECK(text.str().find(fmt::format("`{}`", column.name)) != std::string::npos);
    }
}

TEST_CASE("what an all-to-all says of its traffic is read back, too, and has no name of the others") {
    const std::vector<Column> columns = traffic_columns();
    PointResult written{};
    double next = 0.5;
    std::vector<Value> values;
    for (const Column& column : columns) {
        CHECK_FALSE(kSchema.has(column.name));
        if (!column.restore) continue;
        values.push_back(column.kind == ValueType::float64 ? Value(next) : Value(std::int64_t{1}));
        column.restore(written, values.back());
        next += 1;
    }
    std::size_t i = 0;
    for (const Column& column : columns) {
        CAPTURE(column.name);
        if (column.restore) CHECK(column.outcome(written) == values[i++]);
    }

    const Layout layout = Layout::blocks(2, 1);
    Point point;
    const auto asked = [&](std::size_t column) { return columns[column].asked({point, layout, "net"}); };
    CHECK(asked(0) == Value("uniform"));
    CHECK(asked(1) == Value(std::int64_t{-1}));
    CHECK(asked(2) == Value(std::int64_t{-1}));
    const auto matrix = std::make_shared<TrafficMatrix>(parse_csv_matrix("0,1\n0,0\n"));
    point.traffic = std::make_shared<Traffic>("a.csv", 3, matrix, layout, 8);
    CHECK(asked(0) == Value("a.csv"));
    CHECK(asked(1) == Value(std::int64_t{3}));
    CHECK(asked(2) == Value(static_cast<std::int64_t>(matrix->digest())));
}
