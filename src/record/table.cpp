// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/record/table.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "a2aperf/base/units.hpp"

namespace a2aperf {
namespace {

constexpr std::string_view kNothing = "—";

// table: what matters daily, a line of at most 118 columns and a few words.

std::string cell(double value, int width) {
    return std::isnan(value) ? fmt::format(" {:>{}}", kNothing, width) : fmt::format(" {:>{}.2f}", value, width);
}

std::string rate_cell(double gbps, int width) {
    return std::isnan(gbps) ? cell(gbps, width) : fmt::format(" {:>{}}", format_gbps(gbps), width);
}

// "tagged shift all"; what of a point is not in the numbers beside it.
std::string how(const Point& point) {
    if (point.is_baseline() && point.traffic) return fmt::format("MPI_Alltoallv {}", point.traffic->name());
    if (point.is_baseline()) return "MPI_Alltoall";
    std::string text = fmt::format("{} {} {}{}{}{}", point.mode, point.schedule_name(), point.window_words(),
                                   point.chunk_words(), point.endpoint_words(), point.polling_words());
    if (point.traffic) text += fmt::format(" {}", point.traffic->name());
    return point.role == Role::sentinel ? text + ", sentinel" : text;
}

std::string ratio(const Summary& summary) {
    if (std::isnan(summary.ratio)) return {};
    if (std::isnan(summary.ratio_low)) return fmt::format(", {:.2f} x MPI", summary.ratio);
    return fmt::format(", {:.2f} x MPI [{:.2f}, {:.2f}]", summary.ratio, summary.ratio_low, summary.ratio_high);
}

std::string title(const Layout& layout, const std::string& provider, const std::string& oversubscription,
                  const std::string& start) {
    const std::string first = oversubscription.empty() ? "" : fmt::format("# {}\n", oversubscription);
    return first + fmt::format("# {}, {} on {}{}{}; times of the whole op in µs, Gbit/s one way {}\n", provider,
                               counted(layout.ranks(), "rank"), counted(layout.nodes(), "node"),
                               start.empty() ? "" : ", ", start, start == kFollowOn ? "over all ops" : "at p50");
}

std::string table_header() {
    return fmt::format("{:>6} {:>5} {:>5} {:>9} {:>5} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>11} {:>11}\n", "ranks",
                       "nodes", "ppn", "msg (B)", "ops", "min", "avg", "p50", "p90", "p99", "max", "Gbit/s/rank",
                       "Gbit/s/node");
}

// What of the time is the traffic's own; of MPI's row, whose network may be another, it is not said.
std::string asked_by_traffic(const Point& point, const Summary& summary) {
    if (!point.traffic || point.is_baseline() || summary.count == 0) return {};
    const std::string who =
        point.draws() > 1 ? "mean of the ops" : words_of(Load{summary.busiest, summary.busiest_index, 0});
    const bool is_untold = std::isnan(summary.gbps.rank) && point.traffic->loads().goes_one_way;
    const std::string_view untold = is_untold ? ", no rate: barrier start and messages that go one way" : "";
    if (std::isnan(summary.bound)) {
        // Where all have the same to move nobody is the busiest.
        const std::string imbalance = fmt::format("{:.2f}", summary.imbalance);
        const bool has_busiest = imbalance != "1.00" || point.draws() > 1;
        return fmt::format(", imbalance {}{}{}", imbalance, has_busiest ? fmt::format(" ({})", who) : "", untold);
    }
    if (is_untold) return fmt::format(", bound {:.2f} µs ({}){}", summary.bound * kMicroseconds, who, untold);
    return fmt::format(", bound {:.2f} µs ({}), {}{:.1f} % of {}", summary.bound * kMicroseconds, who,
                       point.draws() > 1 ? "the median op reached " : "", summary.bound_share * 100,
                       point.draws() > 1 ? "its own" : "it reached");
}

// Why there are fewer ops than were asked for, or a wider interval.
std::string stopped_short(const PointResult& result) {
    if (result.stop_rule == StopRule::time_budget) return ", ended by --time-budget";
    if (result.stop_rule == StopRule::max_ops) return ", --precision not reached at --max-ops";
    if (result.stop_rule == StopRule::attempts)
        return fmt::format(
            ", ended after {}",
            counted(static_cast<std::int64_t>(result.summary.count + result.summary.invalid), "attempt"));
    return {};
}

std::string table_row(const Row& row, const Layout& layout) {
    std::string line = fmt::format("{:>6} {:>5} {:>5} {:>9}", layout.ranks(), layout.nodes(),
                                   fmt::format("{:.3g}", layout.ranks_per_node()), row.point.message_size);
    if (row.result == nullptr)
        return fmt::format("{} {:>5} skipped: {} ({})\n", line, kNothing, row.point.skip_reason, how(row.point));
    const Summary& summary = row.result->summary;
    line += fmt::format(" {:>5}", summary.count);
    for (const double time : {summary.min, summary.mean, summary.p50, summary.p90, summary.p99, summary.max})
        line += cell(time * kMicroseconds, 9);
    line += rate_cell(summary.gbps.rank, 11) + rate_cell(summary.gbps.node_net, 11);
    const std::string remark = summary.count == 0 ? fmt::format(", no valid op of {}", summary.invalid) : "";
    return fmt::format("{}  {}{}{}{}{}\n", line, how(row.point), asked_by_traffic(row.point, summary),
                       row.point.is_baseline() ? "" : ratio(summary), remark, stopped_short(*row.result));
}

// compat: the layout of the table of 2019. It knows no baseline and no sentinel, and its nodes are ranks.

std::string compat_header() {
    return fmt::format("#{:>12}{:>12}{:>8}{:>12}{:>12}{:>12}{:>12}{:>12}{:>20}\n#{:->92}\n", "nodes", "msg (B)",
                       "ops", "min", "avg", "p50", "p90", "p99", "Throughput (Gbps)", "");
}

std::string compat_row(const Row& row, int ranks) {
    if (row.point.role != Role::measure) return {};
    if (row.result == nullptr)
        return fmt::format("# {} {} skipped: {}\n", ranks, row.point.message_size, row.point.skip_reason);
    const Summary& summary = row.result->summary;
    if (summary.count == 0)
        return fmt::format("# {} {} no valid op of {}\n", ranks, row.point.message_size, summary.invalid);
    std::string line = fmt::format("{:>13}{:>12}{:>8}", ranks, row.point.message_size, summary.count);
    for (const double time : {summary.min, summary.mean, summary.p50, summary.p90, summary.p99})
        line += fmt::format("{:>12.2f}", time * kMicroseconds);
    return fmt::format("{}{:>20.2f}\n", line, summary.gbps.compat);
}

// wide, csv and json: the columns of the results file.

bool is_unknown(const Column& column, const Value& value) {
    if (const auto* real = std::get_if<double>(&value)) return !std::isfinite(*real);
    const auto* integer = std::get_if<std::int64_t>(&value);
    return column.has_unknown && integer != nullptr && *integer == -1;
}

std::string flag_name(const Column& column, const Value& value) {
    return std::string(column.flags.at(static_cast<std::size_t>(std::get<std::int64_t>(value))));
}

// A percentile of too few ops for its name is their maximum, and says so.
bool is_forced_to_max(const Column& column, const Summary& summary) {
    constexpr std::size_t kFewestForP90 = 11; // by either rule
    if (column.name == "time_p99") return summary.p99_is_max;
    return column.name == "time_p90" && summary.count < kFewestForP90 && summary.p90 >= summary.max;
}

int wide_width(const Column& column) {
    constexpr std::size_t kNarrowest = 11; // a schedule's name
    std::size_t width = std::max(kNarrowest, column.wide.heading.size());
    for (const std::string_view flag : column.flags) width = std::max(width, flag.size());
    return static_cast<int>(width) + 1;
}

std::string wide_header(std::span<const Column> columns) {
    std::string line = "#";
    for (const Column& column : columns)
        if (!column.wide.heading.empty()) line += fmt::format("{:>{}}", column.wide.heading, wide_width(column));
    return line + "\n";
}

std::string wide_cell(const Column& column, const Value& value) {
    if (is_unknown(column, value)) return std::string(kNothing);
    if (!column.flags.empty()) return flag_name(column, value);
    if (const auto* real = std::get_if<double>(&value))
        return fmt::format("{:.{}f}", *real * column.wide.scale, column.wide.digits);
    if (const auto* integer = std::get_if<std::int64_t>(&value))
        return column.name == "window" && *integer == 0 ? "all" : fmt::to_string(*integer);
    return std::get<std::string>(value);
}

std::string wide_row(std::span<const Column> columns, const Row& row, const PointRequest& request) {
    std::string line = " ";
    for (const Column& column : columns) {
        if (column.wide.heading.empty() || (!column.is_asked() && row.result == nullptr)) continue;
        const bool is_max = row.result != nullptr && is_forced_to_max(column, row.result->summary);
        const std::string cell =
            is_max ? "=max"
                   : wide_cell(column, column.is_asked() ? column.asked(request) : column.outcome(*row.result));
        line += fmt::format(" {:>{}}", cell, wide_width(column) - 1);
    }
    return row.result == nullptr ? fmt::format("{} skipped: {}\n", line, row.point.skip_reason) : line + "\n";
}

// csv and json: every column but the place in a file, which a table has not got.
std::vector<std::string_view> names_of(std::span<const Column> columns) {
    std::vector<std::string_view> names;
    for (const Column& column : columns)
        if (!column.place) names.push_back(column.name);
    return names;
}

std::vector<std::optional<Value>> fields_of(std::span<const Column> columns, const Row& row,
                                            const PointRequest& request) {
    std::vector<std::optional<Value>> fields;
    for (const Column& column : columns) {
        if (column.place) continue;
        Value value = column.blank();
        if (column.is_asked())
            value = column.asked(request);
        else if (column.name == "state")
            value = static_cast<std::int64_t>(row.result != nullptr ? state_of(*row.result) : State::skipped);
        else if (row.result != nullptr)
            value = column.outcome(*row.result);
        if (is_unknown(column, value))
            fields.emplace_back();
        else if (!column.flags.empty())
            fields.emplace_back(flag_name(column, value));
        else
            fields.emplace_back(std::move(value));
    }
    return fields;
}

} // namespace

TableWriter::TableWriter(Format format, std::span<const Column> columns, const Layout& layout, std::string provider,
                         std::string oversubscription, std::string start)
    : format_(format), columns_(columns), layout_(layout), provider_(std::move(provider)),
      oversubscription_(std::move(oversubscription)), start_(std::move(start)),
      records_(format == Format::json, names_of(columns)) {}

std::string TableWriter::header() const {
    switch (format_) {
    case Format::table:
        return title(layout_, provider_, oversubscription_, start_) + table_header();
    case Format::wide:
        return title(layout_, provider_, oversubscription_, start_) + wide_header(columns_);
    case Format::compat:
        return compat_header();
    case Format::csv:
    case Format::json:
        return records_.header();
    default: // one that a workload prints itself
        break;
    }
    return {};
}

std::string TableWriter::row(const Row& row) {
    const PointRequest request{row.point, layout_, provider_};
    switch (format_) {
    case Format::table:
        return table_row(row, layout_);
    case Format::wide:
        return wide_row(columns_, row, request);
    case Format::compat: {
        const int ranks = row.result != nullptr ? row.result->samples.ranks : layout_.ranks();
        const char* gap = last_ranks_ > 0 && ranks != last_ranks_ ? "\n" : "";
        last_ranks_ = ranks;
        return fmt::format("{}{}", gap, compat_row(row, ranks));
    }
    case Format::csv:
    case Format::json:
        return records_.row(fields_of(columns_, row, request));
    default:
        break;
    }
    return {};
}

std::string TableWriter::footer() const {
    return format_ == Format::json ? records_.footer() : "";
}

} // namespace a2aperf
