// SPDX-License-Identifier: BSD-3-Clause
#include "record/columns.hpp"

#include <cmath>
#include <fstream>
#include <set>
#include <sstream>

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace a2aperf;

TEST_CASE("names are unique, and state is the last to be written") {
    std::set<std::string_view> names;
    for (const Column& column : columns()) CHECK(names.insert(column.name).second);
    CHECK(columns().back().name == "state");
    CHECK(column_index("state") == columns().size() - 1);
    CHECK(column_index("no such") == columns().size());
}

TEST_CASE("every column has exactly one source") {
    for (const Column& column : columns()) {
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
    for (const Column& column : columns()) {
        if (!column.restore) continue;
        const Value value = column.kind == h5::Kind::float64 ? Value(next) : Value(std::int64_t{1});
        column.restore(written, value);
        values.push_back(value);
        next += 1;
    }
    std::size_t i = 0;
    for (const Column& column : columns())
        if (column.restore) {
            CAPTURE(column.name);
            CHECK(column.outcome(written) == values[i++]); // no two columns share a member
        }
}

TEST_CASE("an unmeasured point is blank in the way of its type") {
    CHECK(std::isnan(std::get<double>(columns()[column_index("time_p50")].blank())));
    CHECK(columns()[column_index("segment")].blank() == Value(std::int64_t{-1}));
    CHECK(columns()[column_index("attempts")].blank() == Value(std::int64_t{0}));
    CHECK(columns()[column_index("mode")].blank() == Value(std::string()));
}

TEST_CASE("docs/file-format.md describes every column") {
    std::ifstream page(SOURCE_ROOT "/docs/file-format.md");
    std::stringstream text;
    text << page.rdbuf();
    for (const Column& column : columns()) {
        CAPTURE(column.name);
        CHECK(text.str().find(fmt::format("`{}`", column.name)) != std::string::npos);
    }
}
