// SPDX-License-Identifier: BSD-3-Clause
#include "stream_table.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "a2aperf/base/units.hpp"
#include "a2aperf/plan/stream_plan.hpp"
#include "a2aperf/stats/carried.hpp"
#include "a2aperf/transfer/msg.hpp"

namespace a2aperf {
namespace {

double pause_of(const Point& point) {
    return static_cast<double>(stream_of(point).free_delay.time) * kMicroseconds;
}

constexpr std::array<std::string_view, 8> kPublished{
    "Test duration (secs)",      "Data length (bytes)",
    "Total messages received",   "Total data bytes received",
    "Messages per sec",          "Data bytes per sec",
    "Rx thread free delay (us)", "Tx thread max get send buffer (us)"};

// Each value below its name, to the right.
std::string published(const std::array<std::string, 8>& values) {
    std::string text;
    for (std::size_t i = 0; i < values.size(); ++i)
        text += fmt::format("{:>{}}  ", values[i], kPublished[i].size());
    return text + "\n";
}

std::string published_heading() {
    std::array<std::string, 8> names;
    for (std::size_t i = 0; i < names.size(); ++i) names[i] = kPublished[i];
    return published(names);
}

// What a row does not know it lacks, as theirs do.
std::string published_line(const Row& row) {
    const Point& point = row.point;
    if (row.result == nullptr) return fmt::format("# {} B skipped: {}\n", point.message_size, point.skip_reason);
    const auto& figures = row.result->figures;
    const auto whole = [&](std::string_view name, double factor) {
        const double value = figures.at(name);
        return std::isnan(value) ? std::string() : fmt::format("{:.0f}", value * factor);
    };
    const double time = figures.at("stream_time");
    if (std::isnan(time))
        return fmt::format("# {} B without a time: {} messages\n", point.message_size, whole("messages", 1));
    const double pause = pause_of(point);
    return published({fmt::format("{:.6f}", time * 1e-9), fmt::format("{}", point.message_size),
                      whole("messages", 1), whole("bytes", 1), whole("msg_rate", 1), whole("byte_rate", 1),
                      fmt::format("{:.{}f}", pause, pause == std::floor(pause) ? 0 : 3),
                      whole("longest_wait", kMicroseconds)});
}

// In the words by which `a2a import` knows the mode.
std::string table_of(const Point& point, bool tells_memory) {
    StreamPlan stream = stream_of(point);
    const FreeDelay pause = stream.free_delay;
    stream.free_delay = {}; // a column, which does not tell after how many messages
    const bool is_usual = pause.time == 0 || pause.every == FreeDelay{}.every;
    const std::string every = is_usual ? "" : fmt::format(" pause every {}", pause.every);
    const std::string memory = tells_memory ? fmt::format(" memory {}", point.memory) : "";
    return fmt::format("Testing using {}, {}{}{} and {} buffers", point.mode == Msg::kName ? "send" : point.mode,
                       stream.words(), every, memory, point.window);
}

} // namespace

StreamTable::StreamTable(Format format, const Layout& layout, const std::string& provider, const Plan& plan)
    : format_(format), title_(fmt::format("# {} on {}, {}\n", counted(layout.ranks(), "rank"),
                                          counted(layout.nodes(), "node"), provider)),
      has_asked_(std::ranges::any_of(plan.points, [](const Point& point) { return stream_of(point).asks(); })),
      tells_threads_(std::ranges::any_of(
          plan.points, [](const Point& point) { return stream_of(point).threads != Threads::one; })),
      tells_memory_(std::ranges::any_of(
          plan.points, [&](const Point& point) { return point.memory != plan.points.front().memory; })) {}

std::string StreamTable::heading() const {
    const std::string asked = has_asked_ ? fmt::format(" {:>10} {:>6}", "completion", "cq-mod") : "";
    const std::string memory = tells_memory_ ? fmt::format(" {:>8}", "memory") : "";
    const std::string threads = tells_threads_ ? fmt::format(" {:>7}", "threads") : "";
    return fmt::format("{:>8}{}{} {:>6} {:>9} {:>10}{} {:>6} {:>11} {:>15} {:>12} {:>13} {:>9} {:>11} {:>12}\n",
                       "mode", memory, threads, "window", "msg (B)", "pause (us)", asked, "inject", "messages",
                       "bytes", "messages/s", "bytes/s", "Gbit/s", "time (ms)", "wait (us)");
}

std::string StreamTable::line(const Row& row) const {
    const Point& point = row.point;
    const std::string memory = tells_memory_ ? fmt::format(" {:>8}", point.memory) : "";
    const std::string threads = tells_threads_ ? fmt::format(" {:>7}", to_string(stream_of(point).threads)) : "";
    std::string what = fmt::format("{:>8}{}{} {:>6} {:>9} {:>10.1f}", point.mode, memory, threads, point.window,
                                   point.message_size, pause_of(point));
    if (has_asked_)
        what += fmt::format(" {:>10} {:>6}", to_string(stream_of(point).completion), stream_of(point).cq_mod);
    if (row.result == nullptr) return fmt::format("{} skipped: {}\n", what, point.skip_reason);
    const auto& figures = row.result->figures;
    const auto shown = [&](std::string_view name, int digits, double factor = 1) {
        const double value = figures.at(name);
        return std::isnan(value) ? "—" : fmt::format("{:.{}f}", value * factor, digits);
    };
    return fmt::format("{} {:>6} {:>11.0f} {:>15.0f} {:>12} {:>13} {:>9} {:>11} {:>12.1f}\n", what,
                       row.result->used_inject ? "yes" : "no", figures.at("messages"), figures.at("bytes"),
                       shown("msg_rate", 0), shown("byte_rate", 0), shown("gbps", 3), shown("stream_time", 3, 1e-6),
                       figures.at("longest_wait") * kMicroseconds);
}

std::string StreamTable::header() const {
    return format_ == Format::loopback ? title_ : title_ + heading();
}

std::string StreamTable::row(const Row& row) {
    if (format_ != Format::loopback) return line(row);
    std::string table = table_of(row.point, tells_memory_);
    if (table == last_table_) return published_line(row);
    last_table_ = std::move(table);
    return fmt::format("\n{}\n{}{}", last_table_, published_heading(), published_line(row));
}

void StreamTable::add(const Point&, const PointResult& result) {
    lost_ += result.ticks_lost;
    const auto time = result.figures.find("stream_time");
    if (result.summary.count > 0 && time != result.figures.end() && std::isnan(time->second)) ++untold_;
}

void StreamTable::close(Progress& progress) const {
    if (untold_ > 0) progress.note(fmt::format("no rate at {}: the {}", counted(untold_, "point"), kNotCarried));
    if (lost_ > 0)
        progress.note(
            fmt::format("up to {} of a rank not kept, for there was no room for more of a point (--max-samples)",
                        counted(lost_, "interval")));
}

} // namespace a2aperf
