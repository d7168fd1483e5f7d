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
