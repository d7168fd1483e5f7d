// SPDX-License-Identifier: BSD-3-Clause
// One launch, from the first decision to the last word. All ranks hold one; the file and the table are rank 0's.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "a2aperf/config/options.hpp"
#include "a2aperf/job/job.hpp"
#include "a2aperf/measure/adapters.hpp"
#include "a2aperf/measure/channels.hpp"
#include "a2aperf/measure/clock_sync.hpp"
#include "a2aperf/measure/op_loop.hpp"
#include "a2aperf/measure/point_runner.hpp"
#include "a2aperf/measure/setup.hpp"
#include "a2aperf/plan/plan.hpp"
#include "a2aperf/record/progress.hpp"
#include "a2aperf/record/recorder.hpp"
#include "workload.hpp"

namespace a2aperf {

class Launch {
public:
    // What rank 0 knows before the launch, and others need not.
    struct Files {
        std::filesystem::path results;
        std::vector<std::pair<std::string, std::string>> attachments; // name, text
    };

    // Decides provider, plan, memory and polling; opens the endpoint. Collective. Throws UsageError on all ranks
    // alike.
    Launch(Job& job, const Options& options, Files files);

    // Agrees on the clocks, exchanges first messages, decides how ops start; comes before all below. Where it fails
    // the launch is still there: libfabric 1.17 crashes when an endpoint is closed with large messages under way.
    void connect();

    void verify_all(); // --verify-only

    // What a workload measures with, in this order.
    void open_file();
    Progress make_progress() const;           // of the plan, once the file is open
    void introduce(Progress& progress) const; // what the user should know beforehand
    // Every point of the plan in its order; done() is told of each on rank 0, when it is in the file. What was
    // measured in an earlier launch comes from there, without its samples.
    using Done = std::function<void(int index, PointOutcome&& outcome)>;
    void measure_points(Progress& progress, const Done& done);
    // The ops of another one, that is not of the plan; on rank 0.
    Samples sample(const Point& point, const std::string& at_hand);
    void finish();            // the file, after the last point
    bool has_figures() const; // of any point: whether one of its ops was valid. Collective

    const Job& job() const { return job_; }
    const Options& options() const { return options_; }
    const Plan& plan() const { return plan_; }
    Recorder& recorder() { return *recorder_; } // on rank 0, from open_file() to finish()
    std::string provider() const;               // its full name
    Start start() const { return start_.start; }
    double clock_error_ns() const { return clock_.error_ns; }
    bool is_oversubscribed() const { return is_oversubscribed_; }
    std::string oversubscription() const; // in words; empty where every rank has a core
    Polling polling() const { return polling_.polling; }
    double node_link_gbps() const { return node_link_.gbps; }
    std::size_t points_measured() const { return points_measured_; }
    std::size_t points_before() const { return points_before_; } // by an earlier launch; on rank 0

    // The last words into the file when something went wrong; harmless when there is none. Never throws.
    void close(EndState state, const std::string& message) noexcept;

    // Which point is being measured, for messages; empty between points.
    const std::string& at_hand() const { return at_hand_; }
    bool has_file() const { return recorder_.has_value(); }
    bool is_file_in_place() const { return recorder_->has_name(); }
    std::filesystem::path file_moved_to() const { return recorder_->moved_to(); }
    int points_in_file() const; // complete ones, as the closing words count them; on rank 0, which has the file
    const std::filesystem::path& file() const { return files_.results; }

private:
    Plan plan_points();
    void choose_start_of_ops();
    void connect_and_try(std::optional<Start> wanted); // how to start ops that wait for all ranks
    Provenance provenance();
    RunRules rules_for(const Point& point) const;
    PointRunner runner_for(const Point& point);
    bool is_done_before(int index);
    double keep_clock(); // ClockKeeper
    std::string mpi_transport() const;

    Job& job_;
    const Options& options_;
    const Workload& workload_;
    Files files_;
    std::vector<EnvironmentVariable> environment_;
    ProviderChoice choice_;
    MemoryBudget budget_;
    std::optional<Start> stored_start_; // of the launch that this one goes on with
    Plan plan_;
    std::vector<int> cores_of_nodes_; // [N], that the ranks there may run on
    bool is_oversubscribed_;
    PollingChoice polling_;
    Deadline deadline_;
    std::optional<Channels> channels_;
    ClockAgreement clock_;
    Nanoseconds synchronised_ = 0; // when the clocks were last agreed on
    OpLoop loop_;
    StartChoice start_{Start::barrier, "nothing to measure"};
    Nanoseconds time_origin_ = 0;      // on the common clock
    Nanoseconds time_origin_wall_ = 0; // since 1970-01-01
    NodeLink node_link_;
    std::vector<std::string> port_names_;
    std::optional<NodeCounterReader> node_counters_;
    std::optional<Recorder> recorder_;
    std::string at_hand_;
    std::size_t points_measured_ = 0;
    std::size_t points_before_ = 0;
    bool has_figures_ = false; // on rank 0
};

} // namespace a2aperf
