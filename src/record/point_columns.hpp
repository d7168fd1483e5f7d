// SPDX-License-Identifier: BSD-3-Clause
// /<column>: one row per point, as the workload declares them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "a2aperf/plan/plan.hpp"
#include "a2aperf/record/columns.hpp"
#include "h5.hpp"

namespace a2aperf {

class PointColumns {
public:
    // All rows blank: pending, -1, NaN, empty.
    static PointColumns create(const h5::File& file, const h5::Dataset& point_scale, const Schema& schema);
    // A column that the file has not got stays closed: it reads blank.
    static PointColumns open(const h5::File& file, int points, const Schema& schema);
    void require_shapes() const; // h5::Unreadable where a column has not a row for every point

    // What was asked of every point, with a checksum of its numbers; those with a reason to be skipped are skipped.
    void write_asked(const std::vector<Point>& points, const Layout& layout, const std::string& provider) const;

    // Columns of what was asked whose numbers are not what was written.
    std::vector<std::string> damaged_asked() const;

    std::vector<Value> read(std::size_t column) const;    // [P]
    std::vector<Value> read(std::string_view name) const; // of one that all workloads have
    void write(std::size_t column, const std::vector<Value>& values) const;

    // Everything of one point but its state.
    void write(int point, const PointResult& result, const FilePosition& place) const;
    // Whether the file has it, or it is known what all files had before there was such a column.
    bool says(const Column& column) const;
    // What was written, without the samples and counters.
    PointResult read(int point) const;

    void write_state(int point, State state) const; // one byte: written or not, never half
    std::vector<State> states() const;

    bool has_checksums() const { return checksum_.is_open(); } // older files have none
    void write_checksum(int point, std::int64_t checksum) const;
    std::vector<std::int64_t> checksums() const; // [P], kNoChecksum where there is none

private:
    std::span<const Column> columns_;
    int points_ = 0;
    std::vector<h5::Dataset> datasets_; // parallel to columns_
    h5::Dataset checksum_;
};

} // namespace a2aperf
