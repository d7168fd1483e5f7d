// SPDX-License-Identifier: BSD-3-Clause
#include "echo_table.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "a2aperf/base/units.hpp"
#include "a2aperf/plan/echo_plan.hpp"

namespace a2aperf {
namespace {

// What the points together say below their table.
class EchoTable : public DurationTable {
public:
    explicit EchoTable(EchoSetting setting) : setting_(std::move(setting)) {}

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
        for (const std::string& label : contradictions_)
            progress.note(fmt::format("warning: {}: times and number of the round trips contradict each other "
                                      "(Little's law)",
                                      label));
    }

protected:
    const EchoSetting setting_;

private:
    std::int64_t points_ = 0, trips_ = 0; // of which not every round trip is kept
    std::int64_t not_counted_ = 0;        // of points without a histogram
    std::vector<std::string> contradictions_;
};

class Lines final : public EchoTable {
public:
    using EchoTable::EchoTable;

    std::string header() const override {
        return fmt::format("# {}, {} on {}; request {}; round trips in µs, Gbit/s of the answers\n"
                           "{:>8}{} {:>4} {:>10} {:>10} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>10}\n",
                           setting_.provider, setting_.ranks, setting_.nodes, format_bytes(setting_.request_size),
                           "mode", memory("memory"), "out", "answer (B)", "n", "min", "p50", "p90", "p99", "p99.9",
                           "max", "Gbit/s");
    }

    std::string row(const Row& row) override {
        const Point& point = row.point;
        const std::string what = fmt::format("{:>8}{} {:>4} {:>10}", point.mode, memory(point.memory),
                                             echo_of(point).outstanding, point.message_size);
        if (row.result == nullptr) return fmt::format("{} skipped: {}\n", what, point.skip_reason);
        const Summary& summary = row.result->summary;
        std::string cells = fmt::format(" {:>10}", summary.count);
        for (const double time : {summary.min, summary.p50, summary.p90, summary.p99, summary.p999, summary.max})
            cells += std::isnan(time) ? fmt::format(" {:>9}", "—") : fmt::format(" {:>9.2f}", time * kMicroseconds);
        return fmt::format("{}{} {:>10.3f}\n", what, cells, row.result->figures.at("gbps"));
    }

private:
    std::string memory(std::string_view kind) const {
        return setting_.tells_memory ? fmt::format(" {:>8}", kind) : "";
    }
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
class Clusterperf final : public EchoTable {
public:
    using EchoTable::EchoTable;

    std::string header() const override { return {}; }

    std::string row(const Row& row) override {
        const Point& point = row.point;
        const std::string memory = setting_.tells_memory ? fmt::format(", memory {}", point.memory) : "";
        std::string heading =
            fmt::format("clusterperf {} on {}, {}, mode {}, outstanding {}{}\n", setting_.ranks, setting_.nodes,
                        setting_.provider, point.mode, echo_of(point).outstanding, memory);
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

std::unique_ptr<DurationTable> make_echo_table(Format format, EchoSetting setting) {
    if (format == Format::clusterperf) return std::make_unique<Clusterperf>(std::move(setting));
    return std::make_unique<Lines>(std::move(setting));
}

} // namespace a2aperf
