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

// On rank 0; one report for every message size.
struct Launch::Findings {
    std::vector<PairReport> sizes;
    int looked_again = 0;
};

namespace {

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

} // namespace

// From the file, where those of an earlier launch are too.
Launch::Findings Launch::examine_pairs() {
    Findings findings;
    if (!job_.is_root()) return findings;
    std::map<Bytes, std::vector<PairTime>> by_size;
    for (std::size_t i = 0; i < plan_.points.size(); ++i) {
        std::vector<PairTime>& pairs = by_size[plan_.points[i].message_size];
        if (!recorder_->is_complete(static_cast<int>(i))) continue;
        const auto of_step = recorder_->pairs(static_cast<int>(i));
        pairs.insert(pairs.end(), of_step.begin(), of_step.end());
    }
    for (const auto& [size, pairs] : by_size) {
        PairReport report{size, judge_pairs(pairs, job_.layout()), {}};
        if (is_oversubscribed_) report.verdict.suspects.clear(); // whose core was taken is no finding
        report.alone.assign(report.verdict.suspects.size(), kAbsent);
        findings.sizes.push_back(std::move(report));
    }
    return findings;
}

std::vector<Nanoseconds> Launch::measure_alone(Rank source, Rank destination, Bytes message_size) {
    Point point =
        pair_point(pair_axes_of(options_), message_size, (destination - source + job_.ranks()) % job_.ranks());
    point.only_sender = source;
    at_hand_ = fmt::format("{}, rank {} to rank {} alone", point.label(), source, destination);
    PointRunner runner(job_, *wire_, loop_, patience_, *node_counters_, rules_for(point));
    runner.set_clock_keeper([this] { return keep_clock(); });
    auto times = runner.measure_alone(point);
    at_hand_.clear();
    return times;
}

// Rank 0 knows whom to look at; the others are told pair by pair.
void Launch::look_again(Findings& findings, Progress& progress) {
    const std::vector<Turn> turns = second_look(findings.sizes, pair_options(options_).suspects);
    auto count = turns.size();
    job_.broadcast(count);
    if (job_.is_root()) {
        recorder_->begin_second_look();
        if (count > 0)
            progress.note(fmt::format("{} again, with all other ranks idle",
                                      counted(static_cast<std::int64_t>(count), "outlying pair")));
    }
    for (std::size_t i = 0; i < count; ++i) {
        struct {
            Rank source, destination;
            Bytes message_size;
        } pair{};
        PairReport* report = job_.is_root() ? &findings.sizes[turns[i].size] : nullptr;
        if (report != nullptr) {
            const PairTime& suspect = report->verdict.suspects[turns[i].suspect].pair;
            pair = {suspect.source, suspect.destination, report->message_size};
        }
        job_.broadcast(pair);
        const auto times = measure_alone(pair.source, pair.destination, pair.message_size);
        if (report == nullptr) continue;
        const double p50 = told_by_clock(median(times, options_.percentile), clock_.error_ns);
        report->alone[turns[i].suspect] = p50;
        recorder_->write_isolated(static_cast<int>(i),
                                  {pair.source, pair.destination, pair.message_size, times, p50});
    }
    findings.looked_again = static_cast<int>(count);
}

void Launch::report(const Findings& findings) const {
    std::vector<std::string> hosts;
    for (Rank rank = 0; rank < job_.ranks(); ++rank) hosts.push_back(job_.host(rank));
    const std::string start =
        fmt::format("{}, synchronised to {:.0f} ns",
                    start_.start == Start::clock ? "clock" : "barrier, times on the common clock", clock_.error_ns);
    const PairTable table(job_.layout(), hosts,
                          {.provider = choice_.info->fabric_attr->prov_name,
                           .ops = options_.ops,
                           .start = start,
                           .oversubscription = oversubscription()});
    std::fputs(table.text(options_.format, findings.sizes).c_str(), stdout);
    std::fflush(stdout);
}

void Launch::measure_pairs() {
    open_file();
    Progress progress = make_progress();
    introduce(progress);
    progress.note(fmt::format("{}: about {}", pair_effort(plan_, options_, job_.ranks()),
                              format_duration(estimated_time(plan_, options_, job_.ranks()))));
    for (const Point& point : plan_.points)
        if (point.is_skipped() && point.distance == 1)
            progress.note(fmt::format("{} B skipped: {}", point.message_size, point.skip_reason));
    measure_points(progress, [](int, PointOutcome&&) {});
    Findings findings = examine_pairs();
    if (pair_options(options_).suspects > 0) look_again(findings, progress);
    finish();
    if (!job_.is_root()) return;
    progress.clear();
    report(findings);
    progress.note(fmt::format("{}, {} measured again: {}",
                              what_was_measured(points_measured_ + points_before_, points_before_),
                              counted(findings.looked_again, "pair"), files_.results.string()));
}

} // namespace a2aperf
