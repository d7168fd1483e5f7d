// SPDX-License-Identifier: BSD-3-Clause
// The points one after another: measure, record, print.
#include <unistd.h>

#include <cstdio>
#include <map>
#include <utility>
#include <vector>

#include "a2aperf/base/clock.hpp"
#include "a2aperf/record/closing.hpp"
#include "a2aperf/record/progress.hpp"
#include "a2aperf/record/table.hpp"
#include "launch.hpp"

namespace a2aperf {
namespace {

// Rank 0's two voices: the table on stdout as it grows, progress on stderr.
class Voice {
public:
    Voice(bool is_root, TableWriter table, Progress& progress)
        : is_root_(is_root), table_(std::move(table)), progress_(progress) {
        print(table_.header());
    }

    void row(const Point& point, const PointResult* result) {
        if (point.role != Role::sentinel) print(table_.row({point, result}));
    }
    void finish() { print(table_.footer()); }

private:
    void print(const std::string& text) {
        if (!is_root_ || text.empty()) return;
        progress_.clear();
        std::fputs(text.c_str(), stdout);
        std::fflush(stdout);
    }

    bool is_root_;
    TableWriter table_;
    Progress& progress_;
};

// The closing words, on rank 0.
void say_last_words(Launch& launch, std::map<int, PointResult>& results) {
    const Plan& plan = launch.plan();
    std::vector<Row> rows;
    for (std::size_t i = 0; i < plan.points.size(); ++i)
        rows.push_back(
            {plan.points[i], results.contains(static_cast<int>(i)) ? &results[static_cast<int>(i)] : nullptr});
    for (const auto& line :
         closing_words(rows, launch.job().layout(), launch.file().string(), launch.node_link_gbps(),
                       launch.oversubscription(), launch.points_before(), launch.polling() != Polling::spin))
        std::fprintf(stderr, "%s\n", line.c_str());
}

} // namespace

void measure_all(Launch& launch) {
    launch.open_file();
    Progress progress = launch.make_progress();
    const Plan& plan = launch.plan();
    const std::string start =
        launch.start() == Start::clock ? "ops start on a common clock" : "ops start at a barrier";
    Voice voice(launch.job().is_root(),
                TableWriter(launch.options().format, launch.job().layout(), launch.provider(),
                            launch.oversubscription(), start),
                progress);
    launch.introduce(progress);
    std::map<int, PointResult> results; // on rank 0
    for (const Point& point : plan.points)
        if (point.is_skipped()) voice.row(point, nullptr);
    // The samples are in the file: what is kept for the closing words does not grow with the ops.
    const auto show = [&](int index, PointResult&& result) {
        PointResult& kept = results[index] = std::move(result);
        voice.row(plan.points[static_cast<std::size_t>(index)], &kept);
        kept.samples = {};
    };
    launch.measure_points(progress, [&](int index, PointOutcome&& outcome) {
        show(index, std::move(outcome.own));
        if (outcome.baseline)
            show(plan.points[static_cast<std::size_t>(index)].partner, std::move(*outcome.baseline));
    });
    voice.finish();
    launch.finish();
    if (!launch.job().is_root()) return;
    progress.clear();
    if (!launch.options().is_quiet) say_last_words(launch, results);
}

Progress Launch::make_progress() const {
    std::vector<TimeLeft::Work> work;
    for (const int index : plan_.order) {
        const Point& point = plan_.points[static_cast<std::size_t>(index)];
        const bool is_done = recorder_ && recorder_->is_complete(index);
        work.push_back({point.message_size, is_done ? 0 : rules_for(point).target()});
    }
    return {job_.is_root() ? Progress::detect(options_.is_quiet) : Progress::Style::none,
            TimeLeft(std::move(work), options_.time_budget), options_.precision.has_value()};
}

void Launch::introduce(Progress& progress) const {
    for (const auto* warning : {&choice_.warning, &choice_.nic_choice.warning})
        if (!warning->empty()) progress.note("warning: " + *warning);
    if (options_.with_mpi_baseline) progress.note("baseline: MPI_Alltoall over " + mpi_transport());
    if (recorder_)
        for (const auto& remark : recorder_->remarks()) progress.note(remark);
}

double Launch::keep_clock() {
    constexpr Nanoseconds kResynchronise = 5'000'000'000;
    // All ranks see rank 0's clock, so that all or none go.
    bool is_due = now_ns() - synchronised_ > kResynchronise;
    job_.broadcast(is_due);
    if (is_due) {
        resynchronise(job_, clock_);
        synchronised_ = now_ns();
    }
    return clock_.error_ns;
}

void Launch::measure_points(Progress& progress, const Done& done) {
    for (std::size_t place = 0; place < plan_.order.size(); ++place) {
        const int index = plan_.order[place];
        const Point& point = plan_.points[static_cast<std::size_t>(index)];
        const bool with_baseline = point.partner >= 0 && point.role == Role::measure;
        PointOutcome outcome;
        if (is_done_before(index)) {
            if (job_.is_root()) {
                if (point.role != Role::sentinel) ++points_before_;
                outcome.own = recorder_->stored(index);
                if (with_baseline) outcome.baseline = recorder_->stored(point.partner);
            }
        } else {
            at_hand_ = point.label();
            progress.begin_point(static_cast<int>(place), at_hand_);
            PointRunner runner(job_, *wire_, loop_, patience_, *node_counters_, rules_for(point));
            runner.set_clock_keeper([this] { return keep_clock(); });
            runner.set_progress([&](int made, int expected, double op_time_ns) {
                const double gbps = point.distance > 0
                                        ? pair_gbps(point.message_size, op_time_ns)
                                        : bandwidths(job_.layout(), point.message_size, op_time_ns).rank;
                progress.ops(made, expected, gbps);
            });
            outcome = runner.measure(point, with_baseline);
            if (job_.is_root()) {
                // The partner first: whoever sees this row complete finds its partner there.
                if (outcome.baseline) recorder_->write(point.partner, *outcome.baseline);
                recorder_->write(index, outcome.own);
                progress.end_point();
            }
            at_hand_.clear();
            ++points_measured_;
        }
        if (job_.is_root()) done(index, std::move(outcome));
    }
}

// Such a point measures one pair of ranks, and the others wait.
std::vector<Nanoseconds> Launch::measure_alone(const Point& point, const std::string& at_hand) {
    at_hand_ = at_hand;
    PointRunner runner(job_, *wire_, loop_, patience_, *node_counters_, rules_for(point));
    runner.set_clock_keeper([this] { return keep_clock(); });
    auto times = runner.measure_alone(point);
    at_hand_.clear();
    return times;
}

// A file that could not be brought to its end is a failed run, unlike one that stays larger than it need be.
void Launch::finish() {
    if (!recorder_) return;
    if (const auto trouble = recorder_->end(EndState::finished, ""))
        std::fprintf(stderr, "a2aperf: %s\n", trouble->c_str());
    recorder_.reset();
}

void Launch::close(EndState state, const std::string& message) noexcept {
    if (!recorder_) return;
    try {
        recorder_->end(state, message);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "a2aperf: %s\n", error.what());
    }
    recorder_.reset();
}

} // namespace a2aperf
