// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/record/columns.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

#include "a2aperf/base/units.hpp"

namespace a2aperf {
namespace {

using Kind = ValueType;

template <class T>
Value to_value(const T& value) {
    if constexpr (std::is_floating_point_v<T>)
        return static_cast<double>(value);
    else if constexpr (std::is_integral_v<T> || std::is_enum_v<T>)
        return static_cast<std::int64_t>(value);
    else
        return std::string(value);
}

template <class T>
void from_value(const Value& value, T& target) {
    if constexpr (std::is_floating_point_v<T>)
        target = std::get<double>(value);
    else
        target = static_cast<T>(std::get<std::int64_t>(value));
}

Column named(std::string_view name, Kind kind, std::string_view units, std::string_view long_name) {
    Column column;
    column.name = name;
    column.kind = kind;
    column.units = units;
    column.long_name = long_name;
    return column;
}

template <class Access>
Column asked(std::string_view name, Kind kind, std::string_view long_name, WideFormat wide, Access access) {
    Column column = named(name, kind, {}, long_name);
    column.wide = wide;
    column.asked = [access](const PointRequest& a) { return to_value(access(a)); };
    return column;
}

// Where a member sits in a result (const or not).
template <class Result, class T>
auto& reach(Result& r, T PointResult::*member) {
    return r.*member;
}
template <class Result, class T>
auto& reach(Result& r, T Summary::*member) {
    return r.summary.*member;
}
template <class Result, class T>
auto& reach(Result& r, T Bandwidths::*member) {
    return r.summary.gbps.*member;
}

template <class Member>
Column figure(std::string_view name, Kind kind, std::string_view units, std::string_view long_name, WideFormat wide,
              Member member) {
    Column column = named(name, kind, units, long_name);
    column.wide = wide;
    column.outcome = [member](const PointResult& r) { return to_value(reach(r, member)); };
    column.restore = [member](PointResult& r, const Value& v) { from_value(v, reach(r, member)); };
    return column;
}

Column attempts_column() {
    Column column = named("attempts", Kind::int32, {}, "timed ops, valid or not");
    column.outcome = [](const PointResult& r) { return to_value(r.samples.attempts()); };
    return column;
}

Column place(std::string_view name, std::string_view long_name, int FilePosition::*member) {
    Column column = named(name, Kind::int32, {}, long_name);
    column.has_unknown = true;
    column.place = [member](const FilePosition& p) { return std::int64_t{p.*member}; };
    return column;
}

Column with_units(Column column, std::string_view units) {
    column.units = units;
    return column;
}

Column with_unknown(Column column) {
    column.has_unknown = true;
    return column;
}

Column with_better(Column column, Better better) {
    column.better = better;
    return column;
}

Column with_flags(Column column, std::vector<std::string_view> flags) {
    column.flags = std::move(flags);
    return column;
}

// Times of the op time T and of its kin, from ns to µs.
template <class Member>
Column time(std::string_view name, std::string_view long_name, std::string_view heading, Member member) {
    const WideFormat wide{heading, kMicroseconds, 2};
    return with_better(figure(name, Kind::float64, "ns", long_name, wide, member), Better::lower);
}

template <class Member>
Column rate(std::string_view name, std::string_view long_name, std::string_view heading, Member member) {
    return with_better(figure(name, Kind::float64, "Gbit/s", long_name, WideFormat{heading, 1, 2}, member),
                       Better::higher);
}

std::string engine_of(const Point& point) {
    return point.is_baseline() ? "mpi" : "a2aperf";
}

std::vector<Column> asked_columns() {
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
    Column column = figure("pinned_threads", Kind::int32, "",
                           "that a2aperf put on a core of their own, of the rank with the fewest", {},
                           &PointResult::pinned_threads);
    column.before = std::int64_t{0};
    return column;
}

Column asked_column(std::string_view name, Kind kind, std::string_view units, std::string_view long_name,
                    std::function<Value(const Point&)> access) {
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
    Column ticks = named(kTickCount, Kind::int32, {}, "ticks of the duration in /raw");
    ticks.outcome = [](const PointResult& r) { return to_value(r.samples.ticks); };
    return {std::move(ticks),
            figure("ticks_lost", Kind::int32, "", "ticks that came when there was no room for more", {},
                   &PointResult::ticks_lost)};
}

Column bucket_column(std::string_view long_name) {
    Column buckets = named(kBucketCount, Kind::int32, {}, long_name);
    buckets.outcome = [](const PointResult& r) { return to_value(r.samples.buckets); };
    return buckets;
}

Column whole_time_column() {
    return figure("whole_time", Kind::float64, "ns",
                  "of ops that follow one another: time in which any was under way, of which the rates are", {},
                  &Summary::whole_time);
}

std::vector<Column> traffic_columns() {
    constexpr double kPercent = 100;
    Column traffic = asked("traffic", Kind::text, "who sends how much to whom: uniform, a generator, or a file",
                           {"traffic"}, [](const PointRequest& a) { return a.point.traffic_name(); });
    return {
        std::move(traffic),
        asked_column("traffic_matrix", Kind::int32, "", "row of the weights in matrices, -1 = uniform",
                     [](const Point& point) { return to_value(point.traffic ? point.traffic->index() : -1); }),
        asked_column("traffic_digest", Kind::int64, "", "of the matrix, the same of the same one, -1 = uniform",
                     [](const Point& point) {
                         return to_value(point.traffic ? static_cast<std::int64_t>(point.traffic->digest())
                                                       : std::int64_t{-1});
                     }),
        asked_column("traffic_draws", Kind::int32, "", "matrices that the ops take in turn, from that one on",
                     [](const Point& point) { return to_value(point.draws()); }),
        with_unknown(
            figure("largest_message", Kind::int64, "B", "largest message of an op", {}, &Summary::largest_message)),
        figure("imbalance", Kind::float64, "", "most that a rank sends or receives, over the mean",
               {"imbalance", 1, 2}, &Summary::imbalance),
        figure("node_imbalance", Kind::float64, "", "the same of nodes and what passes between them", {},
               &Summary::node_imbalance),
        with_flags(figure("busiest", Kind::int8, "",
                          "who has most to move: of the bound, and where there is none of the ranks", {},
                          &Summary::busiest),
                   {"none", "rank-sends", "rank-receives", "node-sends", "node-receives"}),
        with_unknown(
            figure("busiest_index", Kind::int32, "", "which rank or node that is", {}, &Summary::busiest_index)),
        figure("bound", Kind::float64, "ns",
               "shortest time that the links allow: bytes of the busiest over the rate of what carries them",
               WideFormat{"bound", kMicroseconds, 2}, &Summary::bound),
        with_better(
            figure("bound_share", Kind::float64, "",
                   "bound over the time of an op; absent where ops start at a barrier and messages go one way",
                   {"bound %", kPercent, 1}, &Summary::bound_share),
            Better::higher),
    };
}

std::vector<Column> rate_columns() {
    constexpr double kPercent = 100;
    return {
        rate("gbps_rank",
             "payload each rank sends, self excluded; absent, as all rates, where ops start at a barrier and "
             "messages go "
             "one way",
             "Gbit/s/rank", &Bandwidths::rank),
        rate("gbps_compat", "throughput as in the 2019 table, message to self counted", "compat",
             &Bandwidths::compat),
        rate("gbps_node_net_min", "leaves a node through its ports, minimum over nodes", "node net min",
             &Bandwidths::node_net_min),
        rate("gbps_node_net", "leaves a node through its ports, mean over nodes", "node net",
             &Bandwidths::node_net),
        rate("gbps_node_net_max", "leaves a node through its ports, maximum over nodes", "node net max",
             &Bandwidths::node_net_max),
        rate("gbps_node_total", "ranks per node times gbps_rank", "node total", &Bandwidths::node_total),
        rate("gbps_node_compat", "ranks per node times gbps_compat", "node compat", &Bandwidths::node_compat),
        rate("gbps_duplex", "both directions of a node's ports", "duplex", &Bandwidths::duplex),
        rate("gbps_aggregate", "all ranks together", "aggregate", &Bandwidths::aggregate),
        rate("gbps_bisection", "across a balanced cut, per direction", "bisection", &Bandwidths::bisection),
        rate("gbps_sustained", "payload over the sum of all op times, slow ones included", "sustained",
             &Summary::gbps_sustained),
        rate("gbps_sustained_compat", "the same, message to self counted", "sust. compat",
             &Summary::gbps_sustained_compat),
        with_better(figure("msg_rate", Kind::float64, "1/s", "messages per second, all ranks", {"msg/s"},
                           &Bandwidths::msg_rate),
                    Better::higher),
        with_better(figure("efficiency", Kind::float64, "", "gbps_node_net over rails times link rate",
                           {"link %", kPercent, 1}, &Summary::efficiency),
                    Better::higher),
        with_unknown(figure("last_rank", Kind::int32, "", "rank that finished last most often", {"last rank"},
                            &Summary::last_rank)),
        figure("last_rank_share", Kind::float64, "", "share of the valid ops in which it finished last",
               {"last %", kPercent, 1}, &Summary::last_rank_share),
        with_better(
            figure("ratio", Kind::float64, "",
                   "median of the partner over median of this row; absent, as its interval, where ops start at a "
                   "barrier and messages go one way",
                   {"ratio", 1, 3}, &Summary::ratio),
            Better::higher),
        with_better(figure("ratio_low", Kind::float64, "", "lower end of the ratio's 95 % interval",
                           {"ratio low", 1, 3}, &Summary::ratio_low),
                    Better::higher),
        with_better(figure("ratio_high", Kind::float64, "", "upper end of the ratio's 95 % interval",
                           {"ratio high", 1, 3}, &Summary::ratio_high),
                    Better::higher),
    };
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
