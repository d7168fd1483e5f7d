// SPDX-License-Identifier: BSD-3-Clause
#include "interference_table.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "a2aperf/plan/interference_plan.hpp"
#include "interference_columns.hpp"

namespace a2aperf {
namespace {

using Figures = decltype(PointResult::figures);

std::string time_cell(double time) {
    return std::isnan(time) ? fmt::format(" {:>9}", "—") : fmt::format(" {:>9.2f}", time * kMicroseconds);
}

std::string rate_cell(double rate) {
    return std::isnan(rate) ? fmt::format(" {:>8}", "—") : fmt::format(" {:>8.3f}", rate);
}

// "2.03 (1.98–2.08)"
std::string impact_text(const Figures& figures, const std::string& name) {
    const double ratio = figures.at("impact_" + name);
    if (std::isnan(ratio)) return "—";
    const double low = figures.at("impact_" + name + "_low"), high = figures.at("impact_" + name + "_high");
    return std::isnan(low) ? fmt::format("{:.2f}", ratio) : fmt::format("{:.2f} ({:.2f}–{:.2f})", ratio, low, high);
}

std::string_view what_of(VictimKind kind) {
    switch (kind) {
    case VictimKind::echo:
        return "round trips";
    case VictimKind::stream:
        return "times of a window of the stream";
    case VictimKind::all_to_all:
        return "ops of an all-to-all";
    }
    return "";
}

std::string_view one_of(VictimKind kind) {
    switch (kind) {
    case VictimKind::echo:
        return "round trip";
    case VictimKind::stream:
        return "window";
    case VictimKind::all_to_all:
        return "all-to-all";
    }
    return "";
}

class InterferenceTable final : public DurationTable {
public:
    InterferenceTable(std::string title, VictimKind kind, bool tells_memory)
        : title_(std::move(title)), what_(what_of(kind)), tells_memory_(tells_memory) {}

    std::string header() const override {
        return fmt::format("# {}; {} in µs, alone and under load; impact: loaded / alone, with its 95 % "
                           "interval; load in Gbit/s\n"
                           "{:>8}{} {:>10} {:>7} {:>8} {:>9} {:>9} {:>9} {:>9} {:>19} {:>19} {:>19}\n",
                           title_, what_, "mode", memory("memory"), "size (B)", "level %", "load", "alone p50",
                           "load p50", "alone p99", "load p99", "impact p50", "impact mean", "impact p99");
    }

    std::string row(const Row& row) override {
        const Point& point = row.point;
        const std::string what = fmt::format("{:>8}{} {:>10} {:>7}", point.mode, memory(point.memory),
                                             point.message_size, interference_of(point).level);
        if (row.result == nullptr) return fmt::format("{} skipped: {}\n", what, point.skip_reason);
        const Figures& figures = row.result->figures;
        std::string line = what + rate_cell(figures.at("load_gbps"));
        for (const char* name : {"alone_p50", "loaded_p50", "alone_p99", "loaded_p99"})
            line += time_cell(figures.at(name));
        for (const char* name : {"p50", "mean", "p99"})
            line += fmt::format(" {:>19}", has_load(point, *row.result) ? impact_text(figures, name) : "—");
        return line + "\n";
    }

    void add(const Point& point, const PointResult& result) override {
        if (const double silent = result.figures.at("silent_phases"); silent > 0)
            notes_.push_back(fmt::format("{}: in {} no {} began that counts, so nothing is said of the impact",
                                         point.label(), counted(static_cast<std::int64_t>(silent), "phase"),
                                         one_of(interference_of(point).kind)));
        if (!has_load(point, result))
            notes_.push_back(fmt::format("warning: {}: no load came in the phases that should have it: a longer "
                                         "--phase lets it begin",
                                         point.label()));
        const double rest = result.figures.at("load_rest_gbps"), load = result.figures.at("load_gbps");
        if (load > 0 && rest > kRest * load)
            notes_.push_back(
                fmt::format("warning: {}: load still came in phases that should have none, {:.1f} % of "
                            "what came in the others: a longer --phase lets it end before they count",
                            point.label(), 100 * rest / load));
        else if (load == 0 && rest > 0)
            notes_.push_back(
                fmt::format("warning: {}: load still came in phases without any, {:.3g} Gbit/s: a longer "
                            "--phase lets it end before they count",
                            point.label(), rest));
        add_class(point, result);
        lost_ += result.ticks_lost;
    }

    void close(Progress& progress) const override {
        for (const std::string& note : notes_) progress.note(note);
        if (lost_ > 0)
            progress.note(
                fmt::format("up to {} of a victim had no room and are not counted", counted(lost_, "time")));
    }

private:
    static constexpr double kRest = 0.01;

    // Once of all points that have the same to say.
    void add_class(const Point& point, const PointResult& result) {
        const auto granted = result.figures.find("load_class_granted");
        if (granted == result.figures.end() || granted->second != 0) return; // NaN where none was asked for
        const std::string why = load_trouble(result);
        std::string note = fmt::format("warning: the load's class {} is not granted to every rank of it{}",
                                       interference_of(point).load_class.text(), why.empty() ? "" : ": " + why);
        if (std::ranges::find(notes_, note) == notes_.end()) notes_.push_back(std::move(note));
    }

    // Of messages of no bytes no rate tells whether they came.
    static bool has_load(const Point& point, const PointResult& result) {
        const InterferencePlan& plan = interference_of(point);
        return plan.level == 0 || plan.load_size == 0 || result.figures.at("load_gbps") > 0;
    }
    std::string memory(std::string_view kind) const { return tells_memory_ ? fmt::format(" {:>8}", kind) : ""; }

    std::string title_;
    std::string_view what_;
    bool tells_memory_;
    std::vector<std::string> notes_;
    std::int64_t lost_ = 0;
};

} // namespace

std::unique_ptr<DurationTable> make_interference_table(std::string title, VictimKind kind, bool tells_memory) {
    return std::make_unique<InterferenceTable>(std::move(title), kind, tells_memory);
}

} // namespace a2aperf
