// SPDX-License-Identifier: BSD-3-Clause
// Every pair of ranks, then the suspects alone: measure, judge, look again, print.
#include <algorithm>
#include <cstdio>
#include <map>

#include <fmt/format.h>

#include "a2aperf/base/clock.hpp"
#include "a2aperf/record/closing.hpp"
#include "a2aperf/record/pair_table.hpp"
#include "a2aperf/stats/pair_model.hpp"
#include "estimate.hpp"
#include "launch.hpp"
#include "pair_steps.hpp"

namespace a2aperf {
namespace {

// On rank 0; one report for every message size.
struct Findings {
    std::vector<PairReport> sizes;
    int looked_again = 0;
};

struct Turn {
    std::size_t size;
    std::size_t suspect;
};

// The worst of each size before the second of any: a latency that scatters leaves room for the bandwidths.
std::vector<Turn> second_look(const std::vector<PairReport>& sizes, int most) {
    std::vector<Turn> turns;
    for (std::size_t suspect = 0; true; ++suspect) {
        const std::size_t before = turns.size();
        for (std::size_t size = 0; size < sizes.size(); ++size)
            if (suspect < sizes[size].verdict.suspects.size()) turns.push_back({size, suspect});
        if (turns.size() == before) break;
    }
    turns.resize(std::min(turns.size(), static_cast<std::size_t>(most)));
    return turns;
}

// From the file, where those of an earlier launch are too.
Findings examine(Launch& launch) {
    Findings findings;
    if (!launch.job().is_root()) return findings;
    std::map<Bytes, std::vector<PairTime>> by_size;
    const std::vector<Point>& points = launch.plan().points;
    for (std::size_t i = 0; i < points.size(); ++i) {
        std::vector<PairTime>& times = by_size[points[i].message_size];
        if (!launch.recorder().is_complete(static_cast<int>(i))) continue;
        const auto of_step = launch.recorder().pairs(static_cast<int>(i));
        times.insert(times.end(), of_step.begin(), of_step.end());
    }
    for (const auto& [size, times] : by_size) {
        PairReport report{size, judge_pairs(times, launch.job().layout()), {}};
        if (launch.is_oversubscribed()) report.verdict.suspects.clear(); // whose core was taken is no finding
        report.alone.assign(report.verdict.suspects.size(), kAbsent);
        findings.sizes.push_back(std::move(report));
    }
    return findings;
}

std::vector<Nanoseconds> measure_alone(Launch& launch, Rank source, Rank destination, Bytes message_size) {
    const int ranks = launch.job().ranks();
    Point point = pair_point(pair_axes_of(launch.options()), message_size, (destination - source + ranks) % ranks);
    point.only_sender = source;
    return launch.measure_alone(point,
                                fmt::format("{}, rank {} to rank {} alone", point.label(), source, destination));
}

// Rank 0 knows whom to look at; the others are told pair by pair.
void look_again(Launch& launch, Findings& findings, Progress& progress) {
    const Job& job = launch.job();
    const std::vector<Turn> turns = second_look(findings.sizes, pair_options(launch.options()).suspects);
    auto count = turns.size();
    job.broadcast(count);
    if (job.is_root()) {
        launch.recorder().begin_second_look();
        if (count > 0)
            progress.note(fmt::format("{} again, with all other ranks idle",
                                      counted(static_cast<std::int64_t>(count), "outlying pair")));
    }
    for (std::size_t i = 0; i < count; ++i) {
        struct {
            Rank source, destination;
            Bytes message_size;
        } pair{};
        PairReport* report = job.is_root() ? &findings.sizes[turns[i].size] : nullptr;
        if (report != nullptr) {
            const PairTime& suspect = report->verdict.suspects[turns[i].suspect].pair;
            pair = {suspect.source, suspect.destination, report->message_size};
        }
        job.broadcast(pair);
        const auto times = measure_alone(launch, pair.source, pair.destination, pair.message_size);
        if (report == nullptr) continue;
        const double p50 = told_by_clock(median(times, launch.options().percentile), launch.clock_error_ns());
        report->alone[turns[i].suspect] = p50;
        launch.recorder().write_isolated(static_cast<int>(i),
                                         {pair.source, pair.destination, pair.message_size, times, p50});
    }
    findings.looked_again = static_cast<int>(count);
}

void report(const Launch& launch, const Findings& findings) {
    const Job& job = launch.job();
    std::vector<std::string> hosts;
    for (Rank rank = 0; rank < job.ranks(); ++rank) hosts.push_back(job.host(rank));
    const std::string start = fmt::format(
        "{}, synchronised to {:.0f} ns",
        launch.start() == Start::clock ? "clock" : "barrier, times on the common clock", launch.clock_error_ns());
    const PairTable table(job.layout(), hosts,
                          {.provider = launch.provider(),
                           .ops = launch.options().ops,
                           .start = start,
                           .oversubscription = launch.oversubscription()});
    std::fputs(table.text(launch.options().format, findings.sizes).c_str(), stdout);
    std::fflush(stdout);
}

} // namespace

void measure_pairs(Launch& launch) {
    const Options& options = launch.options();
    const Plan& plan = launch.plan();
    const int ranks = launch.job().ranks();
    launch.open_file();
    Progress progress = launch.make_progress();
    launch.introduce(progress);
    progress.note(fmt::format("{}: about {}", pair_effort(plan, options, ranks),
                              format_duration(estimated_time(plan, options, ranks))));
    for (const Point& point : plan.points)
        if (point.is_skipped() && point.distance == 1)
            progress.note(fmt::format("{} B skipped: {}", point.message_size, point.skip_reason));
    launch.measure_points(progress, [](int, PointOutcome&&) {});
    Findings findings = examine(launch);
    if (pair_options(options).suspects > 0) look_again(launch, findings, progress);
    launch.finish();
    if (!launch.job().is_root()) return;
    progress.clear();
    report(launch, findings);
    const std::size_t before = launch.points_before();
    progress.note(fmt::format("{}, {} measured again: {}",
                              what_was_measured(launch.points_measured() + before, before),
                              counted(findings.looked_again, "pair"), launch.file().string()));
}

} // namespace a2aperf
