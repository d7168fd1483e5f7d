// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/record/columns.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "a2aperf/base/units.hpp"
#include "column_sources.hpp"

namespace a2aperf {
namespace {

using Kind = ValueType;

Column attempts_column() {
    using namespace column_sources;
    Column column = named("attempts", Kind::int32, {}, "timed ops, valid or not");
    column.outcome = [](const PointResult& r) { return to_value(r.samples.attempts()); };
    return column;
}

// Times of the op time T and of its kin, from ns to µs.
template <class Member>
Column time(std::string_view name, std::string_view long_name, std::string_view heading, Member member) {
    using namespace column_sources;
    const WideFormat wide{heading, kMicroseconds, 2};
    return with_better(figure(name, Kind::float64, "ns", long_name, wide, member), Better::lower);
}

std::string engine_of(const Point& point) {
    return point.is_baseline() ? "mpi" : "a2aperf";
}

std::vector<Column> asked_columns() {
    using namespace column_sources;
    return {
        asked("role", Kind::text, "what the row is for: measure, baseline, sentinel or pair", {"role"},
              [](const PointRequest& a) { return a.point.role_name(); }),
        asked("engine", Kind::text, "program that moved the messages", {},
              [](const PointRequest& a) { return engine_of(a.point); }),
        asked("mode", Kind::text, "transfer mode", {"mode"}, [](const PointRequest& a) { return a.point.mode; }),
        asked("schedule", Kind::text, "order in which a rank visits its peers", {"schedule"},
              [](const PointRequest& a) { return a.point.schedule_name(); }),
        asked("window", Kind::int32, "outstanding sends or reads per rank, 0 = all", {"window"},
              [](const PointRequest& a) { return a.point.window; }),
        with_units(asked("message_size", Kind::int64, "bytes per pair of ranks", {"msg (B)"},
                         [](const PointRequest& a) { return a.point.message_size; }),
                   "B"),
        asked("ranks", Kind::int32, "number of ranks", {"ranks"},
              [](const PointRequest& a) { return a.layout.ranks(); }),
        with_unknown(asked("nodes", Kind::int32, "number of nodes", {"nodes"},
                           [](const PointRequest& a) { return a.layout.nodes(); })),
        asked("ranks_per_node", Kind::float64, "mean number of ranks per node", {"ppn", 1, 2},
              [](const PointRequest& a) { return a.layout.ranks_per_node(); }),
        asked("provider", Kind::text, "libfabric provider", {},
              [](const PointRequest& a) { return a.point.is_baseline() ? std::string("mpi") : a.provider; }),
        asked("post", Kind::text, "receives posted before the start or inside the op", {"post"},
              [](const PointRequest& a) { return to_string(a.point.post); }),
        with_unknown(asked("partner", Kind::int32, "row measured in alternation with this one", {},
                           [](const PointRequest& a) { return a.point.partner; })),
        asked("distance", Kind::int32, "only the step in which rank r sends to (r + distance) mod R, 0 = all peers",
              {}, [](const PointRequest& a) { return a.point.distance; }),
        asked("skip_reason", Kind::text, "why the point is not measured", {},
              [](const PointRequest& a) { return a.point.skip_reason; }),
    };
}

std::vector<Column> run_columns() {
    using namespace column_sources;
    return {
        place("segment", "launch that measured the point", &FilePosition::segment),
        place("order", "position in time within its segment", &FilePosition::order),
        attempts_column(),
        figure("ops", Kind::int32, "", "valid ops, the n of every statistic", {"n"}, &Summary::count),
        figure("invalid", Kind::int32, "", "attempts that were not valid", {"invalid"}, &Summary::invalid),
        with_flags(figure("stop_rule", Kind::int8, "", "rule that ended the point", {"stopped by"},
                          &PointResult::stop_rule),
                   {"none", "ops", "precision", "max-ops", "time-budget", "interrupted", "attempts", "duration",
                    "messages"}),
        figure("inject", Kind::int8, "", "1 when the provider's inject path was used", {"inject"},
               &PointResult::used_inject),
        figure("buffer_slots", Kind::int32, "", "distinct message buffers per direction and rank", {"slots"},
               &PointResult::buffer_slots),
        with_unknown(figure("started", Kind::int64, "nanoseconds since 1970-01-01", "start of the point", {},
                            &PointResult::started_ns)),
        with_unknown(figure("duration", Kind::int64, "ns",
                            "wall time spent on the point, verification and warm-up "
                            "included",
                            {}, &PointResult::duration_ns)),
        with_unknown(figure("late_limit", Kind::int64, "ns", "latest begin of a rank in a valid op", {},
                            &PointResult::late_limit_ns)),
        figure("clock_error", Kind::float64, "ns", "largest error bound of the clocks until the point ended", {},
               &PointResult::clock_error_ns),
    };
}

std::vector<Column> time_columns() {
    using namespace column_sources;
    return {
        time("warmup_p50", "median op time of the warm-up", "warm-up", &PointResult::warmup_p50_ns),
        time("time_min", "shortest op time", "min", &Summary::min),
        time("time_mean", "mean op time", "avg", &Summary::mean),
        time("time_p50", "median op time", "p50", &Summary::p50),
        time("time_p90", "90th percentile of the op time", "p90", &Summary::p90),
        time("time_p99", "99th percentile of the op time", "p99", &Summary::p99),
        time("time_max", "longest op time", "max", &Summary::max),
        time("time_stddev", "sample standard deviation of the op time", "stddev", &Summary::stddev),
        time("time_p50_low", "lower end of the median's 95 % interval", "p50 low", &Summary::p50_low),
        time("time_p50_high", "upper end of the median's 95 % interval", "p50 high", &Summary::p50_high),
        time("time_p99_low", "lower end of the 99th percentile's 95 % interval", "p99 low", &Summary::p99_low),
        time("time_p99_high", "upper end of the 99th percentile's 95 % interval", "p99 high", &Summary::p99_high),
        figure("autocorrelation", Kind::float64, "", "lag-1 autocorrelation of the op time", {"autocorr", 1, 2},
               &Summary::autocorrelation),
        with_flags(figure("interval_kind", Kind::int8, "", "how the median's interval was made", {"interval by"},
                          &Summary::interval_kind),
                   {"none", "order-statistics", "block-bootstrap"}),
        time("span_p50", "median op span, last end minus first begin", "span p50", &Summary::span_p50),
        time("rank_time_p50", "median time of one rank", "rank p50", &Summary::rank_time_p50),
    };
}

Column state_column() {
    using namespace column_sources;
    return with_flags(named("state", Kind::int8, {}, "state of the point; written last"),
                      {"pending", "complete", "skipped", "failed"});
}

} // namespace

Value Column::blank() const {
    switch (kind) {
    case Kind::text:
    case Kind::fixed_text:
        return std::string();
    case Kind::float64:
        return std::numeric_limits<double>::quiet_NaN();
    default:
        return std::int64_t{has_unknown ? -1 : 0};
    }
}

std::string_view to_string(Replicate replicate) {
    return replicate == Replicate::launch ? "launch" : "op";
}

bool Schema::has(std::string_view name) const {
    return std::any_of(columns.begin(), columns.end(), [&](const Column& column) { return column.name == name; });
}

Column column_of(Figure figure) {
    using namespace column_sources;
    Column column = with_better(named(figure.name, Kind::float64, figure.units, figure.long_name), figure.better);
    column.wide = figure.wide;
    column.work_out = std::move(figure.of);
    column.outcome = [name = figure.name](const PointResult& r) {
        const auto found = r.figures.find(name);
        return Value(found != r.figures.end() ? found->second : kAbsent);
    };
    column.restore = [name = figure.name](PointResult& r, const Value& v) {
        r.figures[name] = std::get<double>(v);
    };
    return column;
}

Column whole_column(Figure figure, Kind kind) {
    using namespace column_sources;
    const std::string_view name = figure.name;
    Column column = with_unknown(column_of(std::move(figure)));
    column.kind = kind;
    column.outcome = [name](const PointResult& r) {
        const auto found = r.figures.find(name);
        const double value = found != r.figures.end() ? found->second : kAbsent;
        return Value(std::isnan(value) ? std::int64_t{-1} : static_cast<std::int64_t>(value));
    };
    column.restore = [name](PointResult& r, const Value& v) {
        const auto value = std::get<std::int64_t>(v);
        r.figures[name] = value < 0 ? kAbsent : static_cast<double>(value);
    };
    return column;
}

Column pinned_threads_column() {
    using namespace column_sources;
    Column column = figure("pinned_threads", Kind::int32, "",
                           "that a2aperf put on a core of their own, of the rank with the fewest", {},
                           &PointResult::pinned_threads);
    column.before = std::int64_t{0};
    return column;
}

Column asked_column(std::string_view name, Kind kind, std::string_view units, std::string_view long_name,
                    std::function<Value(const Point&)> access) {
    using namespace column_sources;
    Column column = named(name, kind, units, long_name);
    column.has_unknown = kind != Kind::text;
    column.asked = [access = std::move(access)](const PointRequest& a) { return access(a.point); };
    return column;
}

void work_out(std::span<const Column> columns, PointResult& result, const Point& point, const Layout& layout) {
    for (const Column& column : columns)
        if (column.work_out) result.figures[column.name] = column.work_out(result.samples, point, layout);
}

std::vector<Column> tick_columns() {
    using namespace column_sources;
    Column ticks = named(kTickCount, Kind::int32, {}, "ticks of the duration in /raw");
    ticks.outcome = [](const PointResult& r) { return to_value(r.samples.ticks); };
    return {std::move(ticks),
            figure("ticks_lost", Kind::int32, "", "ticks that came when there was no room for more", {},
                   &PointResult::ticks_lost)};
}

Column bucket_column(std::string_view long_name) {
    using namespace column_sources;
    Column buckets = named(kBucketCount, Kind::int32, {}, long_name);
    buckets.outcome = [](const PointResult& r) { return to_value(r.samples.buckets); };
    return buckets;
}

Column whole_time_column() {
    using namespace column_sources;
    return figure("whole_time", Kind::float64, "ns",
                  "of ops that follow one another: time in which any was under way, of which the rates are", {},
                  &Summary::whole_time);
}

namespace {

std::vector<Column> joined(std::vector<std::vector<Column>> parts) {
    std::vector<Column> all;
    for (std::vector<Column>& some : parts)
        for (Column& column : some) all.push_back(std::move(column));
    all.push_back(state_column());
    return all;
}

} // namespace

std::vector<Column> columns_with(std::vector<Column> figures) {
    return joined({asked_columns(), run_columns(), time_columns(), std::move(figures)});
}

std::vector<Column> columns_of_durations(std::vector<Column> figures) {
    return joined({asked_columns(), run_columns(), tick_columns(), std::move(figures)});
}

} // namespace a2aperf
