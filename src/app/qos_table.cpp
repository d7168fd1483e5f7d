// SPDX-License-Identifier: BSD-3-Clause
#include "qos_table.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "a2aperf/plan/paths_plan.hpp"
#include "a2aperf/stats/carried.hpp"
#include "a2aperf/stats/shares.hpp"
#include "a2aperf/stats/summary.hpp"

namespace a2aperf {
namespace {

using Intervals = std::vector<std::vector<PathInterval>>;

double seconds(Nanoseconds time) {
    return static_cast<double>(time) * 1e-9;
}

std::string percent(double share, int digits) {
    return std::isnan(share) ? "—" : fmt::format("{:.{}f}", share * 100, digits);
}

std::string class_name(const TrafficClass& traffic_class) {
    const std::string name = traffic_class.text();
    return name.empty() ? "—" : name;
}

// "path 1 (0:1)"
std::string named(const std::vector<Path>& paths, std::size_t path) {
    return fmt::format("path {} ({}:{})", path, paths[path].from, paths[path].to);
}

// Where its last intervals were empty, or, where all came to it again, its longest gap. is_cut: more came behind
// them, which nobody kept.
std::string gap_of(const std::vector<PathInterval>& intervals, const std::string& name, bool is_cut) {
    std::size_t behind = intervals.size();
    while (behind > 0 && intervals[behind - 1].messages == 0) --behind;
    if (behind < intervals.size() && !is_cut)
        return fmt::format("{} got nothing since {:.1f} s", name, seconds(intervals[behind].begin));
    std::size_t first = 0, last = 0;
    for (std::size_t i = 0, begin = 0; i < intervals.size(); ++i) {
        if (intervals[i].messages > 0) begin = i + 1;
        if (i + 1 - begin > last - first) first = begin, last = i + 1;
    }
    if (last == first) return {};
    return fmt::format("{} got nothing from {:.1f} s to {:.1f} s", name, seconds(intervals[first].begin),
                       seconds(intervals[last - 1].begin + intervals[last - 1].length));
}

// Of a class that was asked for.
std::string became_of(const PathClass& became, const std::string& asked) {
    if (!became.seen.empty() && became.seen != asked) return fmt::format("came as {}", became.seen);
    if (became.granted != asked)
        return became.trouble.empty() ? "not granted" : fmt::format("not granted: {}", became.trouble);
    return became.seen == asked ? "granted, verified" : "granted, not verified";
}

class QosTable : public DurationTable {
public:
    QosTable(std::string title, StoredIntervals intervals, StoredClasses classes, bool tells_memory,
             Nanoseconds duration, Nanoseconds interval, std::int64_t most_intervals)
        : title_(std::move(title)), intervals_(std::move(intervals)), classes_(std::move(classes)),
          tells_memory_(tells_memory), duration_(duration), interval_(interval), most_intervals_(most_intervals) {}

    void add(const Point& point, const PointResult& result) override {
        lost_ += result.ticks_lost;
        const std::vector<Path>& paths = paths_of(point).paths;
        if (paths.size() < 2 || result.ticks_lost > 0) return;
        const SharedPart shared = shared_part(intervals_(point), paths);
        if (shared.is_sender_bound()) return; // there are no shares
        fewest_ = fewest_ ? std::min(*fewest_, shared.intervals) : shared.intervals;
    }
    void close(Progress& progress) const override {
        if (lost_ > 0)
            progress.note(fmt::format("{} not kept, for there was no room for more of a path (--max-samples)",
                                      counted(lost_, "interval")));
        if (fewest_)
            if (const std::string few = few_intervals(*fewest_, duration_, interval_, most_intervals_);
                !few.empty())
                progress.note(few);
    }

protected:
    // Of the paths that asked for a class, what became of it.
    std::vector<std::string> classes_of(const Point& point) const {
        const std::vector<Path>& paths = paths_of(point).paths;
        const std::vector<PathClass> became = classes_(point);
        std::vector<std::string> remarks;
        for (std::size_t i = 0; i < paths.size(); ++i)
            if (const std::string asked = paths[i].traffic_class.text(); !asked.empty())
                remarks.push_back(
                    fmt::format("{}: class {} {}", named(paths, i), asked, became_of(became.at(i), asked)));
        return remarks;
    }

    std::string title_;
    StoredIntervals intervals_;
    StoredClasses classes_;
    bool tells_memory_;

private:
    Nanoseconds duration_, interval_;
    std::int64_t most_intervals_;
    int lost_ = 0;
    std::optional<int> fewest_; // intervals in which every path could send, of points with shares
};

std::string skipped(const Point& point) {
    return fmt::format("# {} skipped: {}\n", point.label(), point.skip_reason);
}

std::string commented(const std::vector<std::string>& remarks) {
    std::string lines;
    for (const std::string& remark : remarks) lines += fmt::format("# {}\n", remark);
    return lines;
}

class PathLines final : public QosTable {
public:
    using QosTable::QosTable;

    std::string header() const override {
        return fmt::format("# {}\n{:>8}{} {:>5} {:>9} {:>16} {:>9} {:>6} {:>12} {:>16} {:>9} {:>7} {:>6}\n", title_,
                           "mode", tells_memory_ ? fmt::format(" {:>8}", "memory") : "", "path", "ranks", "class",
                           "msg (B)", "window", "messages", "bytes", "Gbit/s", "share %", "idle %");
    }

    std::string row(const Row& row) override {
        if (row.result == nullptr) return skipped(row.point);
        const std::vector<Path>& paths = paths_of(row.point).paths;
        const Intervals intervals = intervals_(row.point);
        const SharedPart shared = shared_part(intervals, paths);
        const std::vector<double> bytes = shared.bytes(paths);
        const double time = time_of(shared, row.result->clock_error_ns);
        std::vector<double> shares = shares_of(bytes);
        const bool is_fabric = !shared.is_sender_bound();
        if (!is_fabric) std::ranges::fill(shares, kAbsent);
        std::string lines;
        for (std::size_t i = 0; i < paths.size(); ++i)
            lines += line(row.point, paths[i].mode, fmt::format("{}", i),
                          fmt::format("{}:{}", paths[i].from, paths[i].to), class_name(paths[i].traffic_class),
                          fmt::format("{}", paths[i].size), fmt::format("{}", paths[i].window), shared.messages[i],
                          bytes[i], time, shares[i], shared.idle[i]);
        return lines + of_classes(row.point, paths, shared, bytes, shares, time) +
               of_all(row.point, shared, bytes, is_fabric, time) + commented(classes_of(row.point)) +
               commented(remarks_on(intervals, paths, row.result->ticks_lost > 0));
    }

private:
    std::string line(const Point& point, const std::string& mode, const std::string& path, const std::string& ranks,
                     const std::string& traffic_class, const std::string& size, const std::string& window,
                     std::int64_t messages, double bytes, double time, double share, double idle) const {
        const std::string memory = tells_memory_ ? fmt::format(" {:>8}", point.memory) : "";
        const std::string rate = std::isnan(time) ? "—" : fmt::format("{:.3f}", bytes * 8 / time);
        return fmt::format("{:>8}{} {:>5} {:>9} {:>16} {:>9} {:>6} {:>12} {:>16.0f} {:>9} {:>7} {:>6}\n", mode,
                           memory, path, ranks, traffic_class, size, window, messages, bytes, rate,
                           percent(share, 2), percent(idle, 2));
    }

    // Where there is more than one.
    std::string of_classes(const Point& point, const std::vector<Path>& paths, const SharedPart& shared,
                           const std::vector<double>& bytes, const std::vector<double>& shares, double time) const {
        std::vector<TrafficClass> classes;
        for (const Path& path : paths)
            if (std::ranges::find(classes, path.traffic_class) == classes.end())
                classes.push_back(path.traffic_class);
        std::string lines;
        for (const TrafficClass& one : classes) {
            if (classes.size() < 2) break;
            std::int64_t messages = 0;
            double sum = 0, share = 0;
            for (std::size_t i = 0; i < paths.size(); ++i) {
                if (paths[i].traffic_class != one) continue;
                messages += shared.messages[i];
                sum += bytes[i];
                share += shares[i];
            }
            lines +=
                line(point, point.mode, "class", "", class_name(one), "", "", messages, sum, time, share, kAbsent);
        }
        return lines;
    }

    std::string of_all(const Point& point, const SharedPart& shared, const std::vector<double>& bytes,
                       bool is_fabric, double time) const {
        std::int64_t messages = 0;
        double sum = 0;
        for (std::size_t i = 0; i < bytes.size(); ++i) {
            messages += shared.messages[i];
            sum += bytes[i];
        }
        std::string lines = line(point, point.mode, "all", "", "", "", "", messages, sum, time, kAbsent, kAbsent);
        if (shared.intervals == 0) return lines + "# there is no whole interval in which every path could send\n";
        if (std::isnan(time)) lines += fmt::format("# no rate: its {}\n", kNotCarried);
        if (const double jain = jain_index(bytes); is_fabric && !std::isnan(jain))
            lines += fmt::format("# Jain's index {:.4f} over {:.1f} s\n", jain, seconds(shared.time));
        return lines;
    }
};

class Published final : public QosTable {
public:
    using QosTable::QosTable;

    std::string header() const override { return fmt::format("# {}\n", title_); }

    std::string row(const Row& row) override {
        if (row.result == nullptr) return skipped(row.point);
        const std::vector<Path>& paths = paths_of(row.point).paths;
        const Intervals intervals = intervals_(row.point);
        std::vector<std::pair<PathInterval, std::size_t>> in_time;
        for (std::size_t path = 0; path < intervals.size(); ++path)
            for (const PathInterval& interval : intervals[path]) in_time.emplace_back(interval, path);
        // The n-th intervals of all paths end together but for the clocks.
        std::ranges::stable_sort(in_time, {}, [](const auto& one) {
            constexpr Nanoseconds kTogether = 50'000'000;
            return (one.first.begin + one.first.length + kTogether / 2) / kTogether;
        });
        std::string lines = fmt::format("\n# {}\n", row.point.label());
        for (const auto& [interval, path] : in_time)
            lines += fmt::format("Rx_{} received {} data bytes in {} messages over last {:.1f} seconds\n", path,
                                 static_cast<std::uint64_t>(interval.messages) * paths[path].size,
                                 interval.messages, seconds(interval.length));
        return lines + commented(classes_of(row.point)) +
               commented(remarks_on(intervals, paths, row.result->ticks_lost > 0));
    }
};

} // namespace

std::vector<std::string> remarks_on(const Intervals& intervals, const std::vector<Path>& paths, bool is_cut) {
    std::vector<std::string> remarks;
    for (std::size_t path = 0; path < paths.size(); ++path)
        if (std::string gap = gap_of(intervals[path], named(paths, path), is_cut); !gap.empty())
            remarks.push_back(std::move(gap));
    const SharedPart shared = shared_part(intervals, paths);
    if (shared.intervals == 0) return remarks;
    const auto largest =
        std::ranges::max_element(shared.idle, {}, [](double share) { return std::isnan(share) ? 2.0 : share; });
    if (shared.is_sender_bound() && !std::isnan(*largest))
        remarks.push_back(fmt::format(
            "no share is the fabric's: the sender of {} may have had nothing outstanding for {} % of the time",
            named(paths, static_cast<std::size_t>(largest - shared.idle.begin())), percent(*largest, 1)));
    return remarks;
}

std::string few_intervals(int fewest, Nanoseconds duration, Nanoseconds interval, std::int64_t most_intervals) {
    constexpr int kEnough = 10; // as the analysis has it: a2aperf/shares.py
    if (fewest >= kEnough) return {};
    const Nanoseconds longer = duration + (kEnough - fewest) * interval;
    const Nanoseconds needed = (longer + interval - 1) / interval;
    const std::string kept = needed > most_intervals ? fmt::format(" with --max-samples {}", needed) : "";
    return fmt::format("shares rest on {}, and a2a tells from {} on how far they may be off: --duration {:.10g}s{} "
                       "has room for as many",
                       counted(fewest, "interval"), kEnough, seconds(longer), kept);
}

std::unique_ptr<DurationTable> make_qos_table(Format format, std::string title, StoredIntervals intervals,
                                              StoredClasses classes, bool tells_memory, Nanoseconds duration,
                                              Nanoseconds interval, std::int64_t most_intervals) {
    if (format == Format::qos)
        return std::make_unique<Published>(std::move(title), std::move(intervals), std::move(classes), tells_memory,
                                           duration, interval, most_intervals);
    return std::make_unique<PathLines>(std::move(title), std::move(intervals), std::move(classes), tells_memory,
                                       duration, interval, most_intervals);
}

} // namespace a2aperf
