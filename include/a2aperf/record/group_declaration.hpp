// SPDX-License-Identifier: BSD-3-Clause
// What a workload keeps in the file beside the samples, declared: one group of named columns over named dimensions.
// How it is made, checked, copied and how much room it takes follows from that (src/record/declared_group).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "a2aperf/plan/point.hpp"
#include "a2aperf/record/better.hpp"
#include "a2aperf/record/value_type.hpp"
#include "a2aperf/result/point_result.hpp"

namespace a2aperf {

struct GroupDimension {
    std::string name;
    int length = 0;                     // of one that only counts: 0 … length - 1
    std::vector<std::int64_t> values{}; // of any other; units and long_name are theirs
    std::string units{}, long_name{};
    bool may_grow = false; // a launch that resumes the file may want another length: the larger one stays

    std::uint64_t size() const { return values.empty() ? static_cast<std::uint64_t>(length) : values.size(); }
};

// Blank until it is written: NaN, -1 where an integer may be unknown, 0 where not, an empty text. counted_by: its
// cells hold nothing where that column has 0, whatever is there, so that a large one need not be filled.
struct GroupColumn {
    std::string name;
    ValueType type; // text: of one that is known beforehand; fixed_text: of any other
    std::vector<std::string> dimensions;
    std::string units{}; // empty: none
    std::string long_name;
    Better better = Better::none;
    bool has_unknown = false;         // integers: -1 = unknown, told to readers as _FillValue
    bool is_compressed = false;       // in a finished file
    bool is_late = false;             // files of older programs lack it: blank in copies
    std::string counted_by{};         // of a float64: an integer column of the same dimensions
    std::vector<std::string> texts{}; // known beforehand: all of them, along the column's one dimension
};

// Some elements of one column.
struct GroupCells {
    std::string column;
    std::vector<std::uint64_t> places; // one index per dimension, cell after cell
    std::variant<std::vector<std::int64_t>, std::vector<double>, std::vector<std::string>> values;
};

using PutCells = std::function<void(const GroupCells&)>;

struct GroupDeclaration {
    std::string name;
    std::vector<GroupDimension> dimensions;
    std::vector<GroupColumn> columns;
    bool needs_exits = false; // says nothing in a file that lacks when ranks left the barrier
    // Of a point that has been measured; in the file before the point is complete, one after the other.
    std::function<std::vector<GroupCells>(const Point&, const PointResult&)> of_point{};
};

// Of its columns in a file that is not compact.
std::uint64_t bytes_of(const GroupDeclaration& declaration);

} // namespace a2aperf
