// SPDX-License-Identifier: BSD-3-Clause
// The columns of the points, as a workload declares them: the results file, the wide table, csv and json all read
// its list.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "a2aperf/plan/layout.hpp"
#include "a2aperf/plan/point.hpp"
#include "a2aperf/record/better.hpp"
#include "a2aperf/record/sample_column.hpp"
#include "a2aperf/record/value_type.hpp"
#include "a2aperf/result/point_result.hpp"

namespace a2aperf {

enum class State : std::int8_t { pending = 0, complete = 1, skipped = 2, failed = 3 };

// Without a valid op there is no figure: the samples tell why.
inline State state_of(const PointResult& result) {
    return result.summary.count > 0 ? State::complete : State::failed;
}
inline bool has_samples(State state) {
    return state == State::complete || state == State::failed;
}

// One number or text, wide enough for every type of column.
using Value = std::variant<std::int64_t, double, std::string>;

// What a point was asked to be.
struct PointRequest {
    const Point& point;
    const Layout& layout;
    const std::string& provider; // of our own engine
};

// Where in the file a measured point belongs.
struct FilePosition {
    int segment = -1;
    int order = -1; // position in time among the points of its segment
};

// How the wide table shows a column; without a heading it doesn't.
struct WideFormat {
    std::string_view heading;
    double scale = 1; // shown = stored x scale
    int digits = 0;
};

struct Column {
    std::string_view name;
    ValueType kind = ValueType::float64;
    std::string_view units; // empty: none
    std::string_view long_name;
    std::vector<std::string_view> flags; // names of the values 0, 1, …
    bool has_unknown = false;            // integers: -1 = unknown, told to readers as _FillValue
    Better better = Better::none;
    WideFormat wide;

    // Exactly one of the three is set, but for `state`, which the recorder writes by itself.
    std::function<Value(const PointRequest&)> asked;
    std::function<Value(const PointResult&)> outcome;
    std::function<std::int64_t(const FilePosition&)> place;
    // Of a figure that is worked out once, when the point is measured: what PointResult::figures then has.
    std::function<double(const Samples&, const Point&, const Layout&)> work_out;
    // Sets what `outcome` gets; empty where the figure follows from the others.
    std::function<void(PointResult&, const Value&)> restore;

    // Of what was asked, in every file of a program that had no such column.
    std::optional<Value> before{};

    bool is_asked() const { return static_cast<bool>(asked); }
    // Until the point is measured.
    Value blank() const;
};

// What one workload alone says of a point, over its valid ops, whose number is `ops`.
struct Figure {
    std::string_view name;
    std::string_view units;     // empty: none
    std::string_view long_name; // what it means
    Better better = Better::none;
    WideFormat wide;
    std::function<double(const Samples&, const Point&, const Layout&)> of; // NaN where it does not exist
};

Column column_of(Figure figure);
// The same of a figure that is a whole number: -1 in the file where it does not exist.
Column whole_column(Figure figure, ValueType kind = ValueType::int64);
// What one workload alone asks of a point; of a number -1 is unknown.
Column asked_column(std::string_view name, ValueType kind, std::string_view units, std::string_view long_name,
                    std::function<Value(const Point&)> access);

// The figures of a point that was measured.
void work_out(std::span<const Column> columns, PointResult& result, const Point& point, const Layout& layout);

// What is repeated independently behind a figure of a file: what a comparison counts.
enum class Replicate { launch, op };

std::string_view to_string(Replicate replicate);

// What the files of one workload hold of each point.
struct Schema {
    std::string_view workload;       // its name
    std::string_view subject;        // of the file's title
    std::span<const Column> columns; // `state` is the last
    std::span<const SampleColumn> samples;
    Replicate replicate = Replicate::launch;
    int block = 0; // ops of one engine before another one takes its turn; 0 = there is one engine
    Summarise summarise = a2aperf::summarise;
    std::string_view former_sample{}; // one that has another name now

    bool has(std::string_view name) const; // such a column
};

// In the order of docs/file-format.md: what every workload has of a point, its own figures, and `state`.
std::vector<Column> columns_with(std::vector<Column> figures);
// The same of points that run for durations: with the number of their ticks, and without the times of ops.
std::vector<Column> columns_of_durations(std::vector<Column> figures);

// What points have that run for a duration: how many of its ticks are in the file, and how many had no room there.
std::vector<Column> tick_columns();
// How many buckets of a histogram are in the file.
Column bucket_column(std::string_view long_name);

// Which pages its messages lie in, of a workload that has several in a launch.
Column memory_column();

// The bytes that a window was asked for as.
Column window_bytes_column();
// What the messages of an all-to-all are cut into.
std::vector<Column> chunk_columns();
Column endpoints_column();
Column queues_column();
Column threads_column();
Column pinned_threads_column();
Column polling_column();
// What goes by way of leaders.
Column forwarded_column();

// How long ops took together that follow one another.
Column whole_time_column();

// Who sends how much to whom in an op, and what that alone asks of ranks, nodes and links.
std::vector<Column> traffic_columns();

// The rates that follow from the time of an op in which every rank sends to all others, and what else such ops
// tell.
std::vector<Column> rate_columns();

} // namespace a2aperf
