// SPDX-License-Identifier: BSD-3-Clause
// The points one after another: measure and record.
#include <cstdio>
#include <utility>
#include <vector>

#include "a2aperf/base/clock.hpp"
#include "a2aperf/record/progress.hpp"
#include "launch.hpp"

namespace a2aperf {

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
    for (const auto& warning : choice_.warnings) progress.note("warning: " + warning);
    if (!choice_.nic_choice.warning.empty()) progress.note("warning: " + choice_.nic_choice.warning);
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

PointRunner Launch::runner_for(const Point& point) {
    PointRunner runner(job_, channels_->all(), loop_, deadline_, *node_counters_, rules_for(point));
    runner.set_clock_keeper([this] { return keep_clock(); });
    runner.set_engine([this](const EngineParts& parts) { return workload_.engine(parts); });
    return runner;
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
            PointRunner runner = runner_for(point);
            runner.set_progress([&](int made, int expected, double op_time_ns) {
                progress.ops(made, expected, workload_.gbps_rank(point, job_.layout(), op_time_ns));
            });
            outcome = runner.measure(point, with_baseline);
            if (job_.is_root()) {
                const std::span<const Column> columns = workload_.schema().columns;
                work_out(columns, outcome.own, point, job_.layout());
                if (outcome.baseline)
                    work_out(columns, *outcome.baseline, plan_.points[static_cast<std::size_t>(point.partner)],
                             job_.layout());
                // The partner first: whoever sees this row complete finds its partner there.
                if (outcome.baseline) recorder_->write(point.partner, *outcome.baseline);
                recorder_->write(index, outcome.own);
                progress.end_point();
            }
            at_hand_.clear();
            ++points_measured_;
        }
        for (const PointResult* result : {&outcome.own, outcome.baseline ? &*outcome.baseline : nullptr})
            has_figures_ |= result != nullptr && result->summary.count > 0;
        if (job_.is_root()) done(index, std::move(outcome));
    }
}

Samples Launch::sample(const Point& point, const std::string& at_hand) {
    at_hand_ = at_hand;
    Samples samples = runner_for(point).sample(point);
    at_hand_.clear();
    return samples;
}

// A file that could not be brought to its end is a failed run, unlike one that stays larger than it need be.
void Launch::finish() {
    if (!recorder_) return;
    if (const auto trouble = recorder_->end(EndState::finished, ""))
        std::fprintf(stderr, "a2aperf: %s\n", trouble->c_str());
    recorder_.reset();
}

bool Launch::has_figures() const {
    bool is_so = has_figures_;
    job_.broadcast(is_so);
    return is_so;
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
