// SPDX-License-Identifier: BSD-3-Clause
// Points as text. table: the figures that matter daily; wide: all of metrics.md; compat: the layout of the 2019
// table (its "nodes" are ranks; rows of role measure only); csv, json: every column of the results file under its
// name there, in its units, with enumerations by name; unknown figures are empty or null.
#pragma once

#include <span>
#include <string>

#include "a2aperf/plan/layout.hpp"
#include "a2aperf/plan/point.hpp"
#include "a2aperf/record/columns.hpp"
#include "a2aperf/record/record_writer.hpp"
#include "a2aperf/result/format.hpp"
#include "a2aperf/result/point_result.hpp"

namespace a2aperf {

struct Row {
    const Point& point;
    const PointResult* result; // null: skipped
    bool is_before = false;    // by an earlier launch, which knew its own links
};

using Rows = std::vector<const Row*>;

inline const Summary& summary_of(const Row& row) {
    return row.result->summary;
}

// How ops start, where they do so one after another.
inline constexpr std::string_view kFollowOn = "ops follow one another";

// Rows are printed as they come, so that a table grows while the run goes on.
class TableWriter {
public:
    // oversubscription: plan/oversubscription.hpp; the heading begins with it. start: what starts an op, in words.
    TableWriter(Format format, std::span<const Column> columns, const Layout& layout, std::string provider,
                std::string oversubscription = {}, std::string start = {});
    std::string header() const;
    std::string row(const Row& row); // one line (csv, json: one record), newline included
    std::string footer() const;      // json's closing bracket
private:
    Format format_;
    std::span<const Column> columns_;
    Layout layout_;
    std::string provider_, oversubscription_, start_;
    RecordWriter records_; // csv, json
    int last_ranks_ = 0;   // compat: a blank line between rank counts
};

} // namespace a2aperf
