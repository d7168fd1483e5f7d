// SPDX-License-Identifier: BSD-3-Clause
// One launch, from the first decision to the last word. All ranks hold one; the file and the table are rank 0's.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "a2aperf/record/progress.hpp"
#include "launch_file.hpp"
#include "measurement.hpp"
#include "preparation.hpp"
#include "site_facts.hpp"
#include "workload.hpp"

namespace a2aperf {

class Launch {
public:
    // What comes from files of the user; on rank 0.
    struct Brought {
        std::vector<std::pair<std::string, std::string>> attachments; // name, text
        FactsOfNodes site_facts;
    };

    // Decides provider, memory, plan and polling; opens the channels. Collective. Throws UsageError on all ranks
    // alike.
    Launch(Job& job, const Options& options, std::filesystem::path results, const StoredChoices& stored,
           Brought brought, const StartTimes& start_times);

    // The clocks, first messages and how ops start; comes before all below.
    void connect() { measurement_.connect(); }

    void verify_all(); // --verify-only

    // What a workload measures with, in this order.
    void open_file();
    Progress make_progress() const;           // of the plan, once the file is open
    void introduce(Progress& progress) const; // what the user should know beforehand
    // Results, on rank 0's stdout, which may be the terminal of its progress.
    void show(Progress& progress, const std::string& lines) const;
    // Every point of the plan in its order; done() is told of each on rank 0, when it is in the file. What was
    // measured in an earlier launch comes from there, without its samples. first: a place in the order.
    using Done = std::function<void(int index, PointOutcome&& outcome)>;
    void measure_points(Progress& progress, const Done& done, std::size_t first = 0);
    // More points behind the plan's, for what was found out by now, and which of them (by their places in the plan)
    // come next in which order. They ask for nothing that the plan's don't ask for. Collective.
    void extend(const std::vector<Point>& more, const std::vector<int>& order);
    // Of every point from here on, instead of --time-budget.
    void limit_points(Nanoseconds time) { measurement_.limit_points(time); }
    // The ops of another one, that is not of the plan; on rank 0.
    Samples sample(const Point& point, const std::string& at_hand);
    // Something that rank 0 does with the file, for which the others wait longer. Collective.
    void at_file(const std::function<void(Recorder&)>& act);
    // Something else that takes rank 0 its time, likewise.
    void at_root(const std::function<void()>& act);
    void finish();                                    // after the last point
    bool has_figures() const { return has_figures_; } // after it: whether an op of any point was valid

    const Job& job() const { return job_; }
    const Options& options() const { return options_; }
    const Preparation& prepared() const { return prepared_; }
    const Measurement& measurement() const { return measurement_; }
    LaunchFile& file() { return file_; }
    const LaunchFile& file() const { return file_; }
    const Plan& plan() const { return prepared_.plan; }
    std::string oversubscription() const; // in words; empty where every rank has a core
    std::size_t points_measured() const { return points_measured_; }
    std::size_t points_before() const { return points_before_; } // by an earlier launch; on rank 0
    bool is_before(int index) const { return before_.contains(index); }
    // Which point is being measured, for messages; empty between points.
    const std::string& at_hand() const { return at_hand_; }

private:
    Provenance provenance();
    std::string mpi_transport() const;
    int max_attempts() const; // of a point
    void keep_complete();
    bool is_done_before(int index);
    PointOutcome stored(const Point& point, int index);
    PointOutcome measured(const Point& point, int index, Progress& progress);
    void keep(const Point& point, int index, const PointOutcome& outcome);

    Job& job_;
    const Options& options_;
    const Workload& workload_;
    Brought brought_;
    StartTimes start_times_; // until the file is opened
    LaunchFile file_;
    Preparation prepared_;
    Measurement measurement_;
    std::string at_hand_;
    std::size_t points_measured_ = 0;
    std::size_t points_before_ = 0;
    std::set<int> before_;     // of them and their partners
    bool has_figures_ = false; // on rank 0; once finished, on all
};

} // namespace a2aperf
