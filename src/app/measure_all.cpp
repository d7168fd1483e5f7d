// SPDX-License-Identifier: BSD-3-Clause
// The points one after another: measure, record, print.
#include <unistd.h>

#include <cstdio>
#include <map>
#include <memory>
#include <utility>

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
    Voice(const Job& job, const Options& options, const Plan& plan, const std::string& provider,
          std::string oversubscription)
        : is_root_(job.is_root()), table_(options.format, job.layout(), provider, std::move(oversubscription)),
          progress_(is_root_ ? Progress::detect(options.is_quiet) : Progress::Style::none,
                    static_cast<int>(plan.order.size())) {
        print(table_.header());
    }

    Progress& progress() { return progress_; }
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
    Progress progress_;
};

Bytes bytes_left(const Plan& plan, std::size_t from) {
    Bytes left = 0;
    for (std::size_t i = from; i < plan.order.size(); ++i)
        left += plan.points[static_cast<std::size_t>(plan.order[i])].message_size;
    return left;
}

} // namespace

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
                progress.end_point(point.message_size, outcome.own.duration_ns, bytes_left(plan_, place + 1));
            }
            at_hand_.clear();
            ++points_done_;
        }
        if (job_.is_root()) done(index, std::move(outcome));
    }
}

void Launch::measure_all() {
    open_file();
    Voice voice(job_, options_, plan_, choice_.info->fabric_attr->prov_name, oversubscription());
    Progress& progress = voice.progress();
    introduce(progress);
    std::map<int, PointResult> results; // on rank 0
    for (const Point& point : plan_.points)
        if (point.is_skipped()) voice.row(point, nullptr);
    measure_points(progress, [&](int index, PointOutcome&& outcome) {
        const Point& point = plan_.points[static_cast<std::size_t>(index)];
        voice.row(point, &(results[index] = std::move(outcome.own)));
        if (outcome.baseline)
            voice.row(plan_.points[static_cast<std::size_t>(point.partner)],
                      &(results[point.partner] = std::move(*outcome.baseline)));
    });
    voice.finish();
    finish();
    if (!job_.is_root()) return;
    progress.clear();
    std::vector<Row> rows;
    for (std::size_t i = 0; i < plan_.points.size(); ++i)
        rows.push_back(
            {plan_.points[i], results.contains(static_cast<int>(i)) ? &results[static_cast<int>(i)] : nullptr});
    for (const auto& line :
         closing_words(rows, job_.layout(), files_.results.string(), node_link_.gbps, oversubscription()))
        std::fprintf(stderr, "%s\n", line.c_str());
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
