// SPDX-License-Identifier: BSD-3-Clause
#include "round_trip_table.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "a2aperf/base/units.hpp"
#include "a2aperf/plan/open_loop_plan.hpp"
#include "a2aperf/plan/rate_list.hpp"
#include "a2aperf/stats/rate_knee.hpp"
#include "echo_ways.hpp"

namespace a2aperf {
namespace {

// What the points together say below their table.
class RoundTripTable : public DurationTable {
public:
    explicit RoundTripTable(RoundTripSetting setting) : setting_(std::move(setting)) {}

    void add(const Point& point, const PointResult& result) override {
        const auto all = static_cast<std::int64_t>(result.figures.at("round_trips"));
        const auto in_figures = static_cast<std::int64_t>(result.summary.count);
        constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max(); // that the file says
        if (in_figures < std::min(all, kMost)) {
            not_counted_ += all - in_figures;
        } else if (result.ticks_lost > 0) {
            ++points_;
            trips_ += all;
        }
        if (lacks_ways(result)) ++without_ways_;
        if (result.figures.at("littles_law") == 0) contradictions_.push_back(point.label());
    }

    void close(Progress& progress) const override {
        if (not_counted_ > 0)
            progress.note(
                fmt::format("{} not kept, of points that an older a2aperf measured: their percentiles are "
                            "of those that are kept",
                            counted(not_counted_, "round trip")));
        if (points_ > 0)
            progress.note(fmt::format("in {} a client had more than {} (--max-samples): percentiles are from a "
                                      "histogram of 0.1 % of {}",
                                      counted(points_, "point"), counted(setting_.most_samples, "round trip"),
                                      counted(trips_, "round trip")));
        if (without_ways_ > 0)
            progress.note(
                fmt::format("in {} the way there and the way back are not told apart: the clocks of client "
                            "and server may differ by more than 5 % of the median round trip",
                            counted(without_ways_, "point")));
        for (const std::string& label : contradictions_)
            progress.note(fmt::format("warning: {}: times and number of the round trips contradict each other "
                                      "(Little's law)",
                                      label));
    }

protected:
    std::string memory(std::string_view kind) const {
        return setting_.tells_memory ? fmt::format(" {:>8}", kind) : "";
    }
    // Of each row, up to the size.
    std::string beginning(const Point& point) const {
        return fmt::format("{:>8}{} {:>4} {:>10}", point.mode, memory(point.memory), echo_of(point).outstanding,
                           point.message_size);
    }
    static std::string time_cell(double time) {
        return std::isnan(time) ? fmt::format(" {:>9}", "—") : fmt::format(" {:>9.2f}", time * kMicroseconds);
    }
    // From n to the longest.
    static constexpr std::string_view kHeadings[] = {"n", "min", "p50", "p90", "p99", "p99.9", "max"};
    static std::string time_headings() {
        std::string cells = fmt::format(" {:>10}", kHeadings[0]);
        for (const std::string_view heading : std::span(kHeadings).subspan(1))
            cells += fmt::format(" {:>9}", heading);
        return cells;
    }
    static std::string times(const Summary& summary) {
        std::string cells = fmt::format(" {:>10}", summary.count);
        for (const double time : {summary.min, summary.p50, summary.p90, summary.p99, summary.p999, summary.max})
            cells += time_cell(time);
        return cells;
    }

    const RoundTripSetting setting_;

private:
    std::int64_t points_ = 0, trips_ = 0; // of which not every round trip is kept
    std::int64_t not_counted_ = 0;        // of points without a histogram
    std::int64_t without_ways_ = 0;       // points
    std::vector<std::string> contradictions_;
};

class TripLines final : public RoundTripTable {
public:
    using RoundTripTable::RoundTripTable;

    std::string header() const override {
        return fmt::format("# {}, {} on {}; request {}; round trips in µs, Gbit/s of the answers\n"
                           "{:>8}{} {:>4} {:>10}{} {:>10}\n",
                           setting_.provider, setting_.ranks, setting_.nodes, format_bytes(setting_.request_size),
                           "mode", memory("memory"), "out", "answer (B)", time_headings(), "Gbit/s");
    }

    std::string row(const Row& row) override {
        const std::string what = beginning(row.point);
        if (row.result == nullptr) return fmt::format("{} skipped: {}\n", what, row.point.skip_reason);
        return fmt::format("{}{} {:>10.3f}\n", what, times(row.result->summary), row.result->figures.at("gbps"));
    }
};

// Of an open loop.
class Paced final : public RoundTripTable {
public:
    using RoundTripTable::RoundTripTable;

    std::string header() const override {
        return fmt::format(
            "# {}, {} on {}; times in µs: round trips from when the message was due, pacing from then "
            "until it was sent; rates per second\n"
            "{:>8}{} {:>4} {:>10} {:>7} {:>8}{} {:>10} {:>10} {:>8} {:>12}\n",
            setting_.provider, setting_.ranks, setting_.nodes, "mode", memory("memory"), "out", "size (B)", "rate",
            "arrivals", time_headings(), "offered", "achieved", "backlog", "pacing p99.9");
    }

    std::string row(const Row& row) override {
        const Point& point = row.point;
        const OpenLoopPlan& loop = open_loop_of(point);
        const std::string what =
            fmt::format("{} {:>7} {:>8}", beginning(point), format_rate(loop.rate), to_string(loop.arrivals));
        if (row.result == nullptr) return fmt::format("{} skipped: {}\n", what, point.skip_reason);
        const auto& figures = row.result->figures;
        return fmt::format("{}{} {:>10.0f} {:>10.0f} {:>8.0f}   {}\n", what, times(row.result->summary),
                           figures.at("offered_rate"), figures.at("achieved_rate"), figures.at("backlog"),
                           time_cell(figures.at("pacing_p999")));
    }

    void add(const Point& point, const PointResult& result) override {
        RoundTripTable::add(point, result);
        const auto& figures = result.figures;
        const RatePoint rates{figures.at("offered_rate"), figures.at("achieved_rate"),
                              static_cast<double>(result.summary.count), result.summary.min};
        if (!is_kept(rates)) {
            ++lost_;
            most_unanswered_ = std::max(most_unanswered_, static_cast<std::int64_t>(figures.at("unanswered")));
        }
        // Of few messages there is no p99.9; no percentile is below one before it.
        double own = 0;
        for (const char* name : {"pacing_p50", "pacing_p99", "pacing_p999"})
            if (const double error = figures.at(name); !std::isnan(error)) own = error;
        if (own > result.summary.p50 / kParts) ++median_in_doubt_;
        if (own > result.summary.p999 / kParts) ++tail_in_doubt_;
        rates_[open_loop_of(point).label_of_all_rates(point)].push_back(rates);
    }

    void close(Progress& progress) const override {
        RoundTripTable::close(progress);
        if (lost_ > 0)
            progress.note(fmt::format(
                "in {} less than {:.0f} % of the offered rate was achieved{}: latencies grow for as "
                "long as the rate is offered, unless the last answers alone were late, which a longer "
                "--duration, or more --messages, tells",
                counted(lost_, "point"), 100 * kKeptShare,
                most_unanswered_ == 0
                    ? ""
                    : fmt::format(" (at most {} had no answer by the end)", counted(most_unanswered_, "message"))));
        const auto note = [&](std::int64_t points, std::string_view what) {
            if (points > 0)
                progress.note(fmt::format(
                    "in {} p99.9 of the pacing alone (of few messages a lower percentile) is above a tenth "
                    "of {}: the client itself sent late",
                    counted(points, "point"), what));
        };
        note(median_in_doubt_, "the median latency");
        note(tail_in_doubt_, "the p99.9 of the latency");
        for (const auto& [label, points] : rates_)
            if (const auto knee = find_knee(points); points.size() > 1 && knee)
                progress.note(fmt::format("{}: {}{:.0f}/s was not kept, {:.0f}/s were answered then", label,
                                          knee->kept > 0 ? fmt::format("{:.0f}/s was kept, ", knee->kept) : "",
                                          knee->lost, knee->achieved));
    }

private:
    static constexpr double kParts = 10;

    std::int64_t lost_ = 0, most_unanswered_ = 0; // points, and messages of one of them
    std::int64_t median_in_doubt_ = 0, tail_in_doubt_ = 0;
    std::map<std::string, std::vector<RatePoint>> rates_; // of points that differ in nothing else
};

// Binary units, as theirs: 100, 1K, 10K, 1M.
std::string size_name(Bytes size) {
    constexpr std::pair<Bytes, const char*> kUnits[] = {{Bytes{1} << 30, "G"}, {1 << 20, "M"}, {1 << 10, "K"}};
    for (const auto& [factor, unit] : kUnits)
        if (size > 0 && size % factor == 0) return fmt::format("{}{}", size / factor, unit);
    return fmt::format("{}", size);
}

std::string figure_line(const std::string& name, const std::string& value, std::string_view unit,
                        const std::string& description) {
    return fmt::format("{:<16} {:>9} {:<5} {}\n", name, value, unit, description);
}

std::string time_line(const std::string& name, double time, const std::string& description) {
    const double microseconds = time * kMicroseconds;
    return microseconds < 999.95 ? figure_line(name, fmt::format("{:.1f}", microseconds), "us", description)
                                 : figure_line(name, fmt::format("{:.2f}", microseconds * 1e-3), "ms", description);
}

std::string rate_line(const std::string& name, double rate, const std::string& description) {
    const double mebibytes = rate / (1 << 20);
    return mebibytes < 1023.95 ? figure_line(name, fmt::format("{:.1f}", mebibytes), "MB/s", description)
                               : figure_line(name, fmt::format("{:.3f}", mebibytes / 1024), "GB/s", description);
}

// What a row does not know has no line.
class Clusterperf final : public RoundTripTable {
public:
    using RoundTripTable::RoundTripTable;

    std::string header() const override { return {}; }

    std::string row(const Row& row) override {
        const Point& point = row.point;
        const std::string memory = setting_.tells_memory ? fmt::format(", memory {}", point.memory) : "";
        std::string heading =
            fmt::format("clusterperf {} on {}, {}, mode {}, outstanding {}{}\n", setting_.ranks, setting_.nodes,
                        setting_.provider, point.mode, echo_of(row.point).outstanding, memory);
        const bool is_same = heading == last_heading_;
        last_heading_ = std::move(heading);
        return (is_same ? "" : last_heading_) + lines(row);
    }

private:
    std::string lines(const Row& row) const {
        const std::string size = size_name(row.point.message_size);
        if (row.result == nullptr) return fmt::format("# {}B skipped: {}\n", size, row.point.skip_reason);
        const Summary& of = row.result->summary;
        const std::string trip =
            fmt::format("send {}B message, receive {}B message", size_name(setting_.request_size), size);
        const std::tuple<const char*, double, const char*> times[] = {{"", of.p50, "median"},
                                                                      {".min", of.min, "minimum"},
                                                                      {".9", of.p90, "90%"},
                                                                      {".99", of.p99, "99%"},
                                                                      {".999", of.p999, "99.9%"}};
        std::string text;
        for (const auto& [suffix, time, which] : times)
            if (!std::isnan(time))
                text += time_line(fmt::format("echo{}{}", size, suffix), time, fmt::format("{} {}", trip, which));
        if (const double rate = row.result->figures.at("byte_rate"); !std::isnan(rate))
            text += rate_line("echoBw" + size, rate, fmt::format("bandwidth receiving {}B messages", size));
        return text;
    }

    std::string last_heading_;
};

} // namespace

std::unique_ptr<DurationTable> make_echo_table(Format format, RoundTripSetting setting) {
    if (format == Format::clusterperf) return std::make_unique<Clusterperf>(std::move(setting));
    return std::make_unique<TripLines>(std::move(setting));
}

std::unique_ptr<DurationTable> make_open_loop_table(RoundTripSetting setting) {
    return std::make_unique<Paced>(std::move(setting));
}

} // namespace a2aperf
