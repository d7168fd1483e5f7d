// SPDX-License-Identifier: BSD-3-Clause
#include "launch.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "a2aperf/base/clock.hpp"
#include "a2aperf/base/terminal.hpp"
#include "a2aperf/base/version.hpp"
#include "a2aperf/fabric/provider.hpp"
#include "a2aperf/measure/adapters.hpp"
#include "a2aperf/measure/mpi_transport.hpp"
#include "a2aperf/measure/port_arbitration.hpp"
#include "a2aperf/plan/channel_part.hpp"
#include "file_deadline.hpp"

namespace a2aperf {
namespace {

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr ? value : "";
}

// Of this rank's node; of a --nic that names several all of them: "e0,e1".
std::string domains_of(const ProviderChoice& choice) {
    std::vector<NicFacts> domains;
    for (const Offer& offer : choice.offers()) {
        NicFacts nic = nic_of(offer);
        nic.name = offer.domain();
        const auto is_same = [&](const NicFacts& other) {
            return other.name == nic.name && other.port == nic.port;
        };
        if (std::ranges::none_of(domains, is_same)) domains.push_back(std::move(nic));
    }
    return fmt::format("{}", fmt::join(names_of(domains), ","));
}

// Of how many endpoints to a rank there are points, where those that carry nothing between nodes are worth a word.
std::set<int> dealt_over(const Plan& plan) {
    std::set<int> counts;
    for (const Point& point : plan.points)
        if (!point.is_skipped() && !point.is_baseline() && !point.forwarding && point.channels > 1)
            counts.insert(point.channels);
    return counts;
}

// By its row in the file, too.
std::string named(const Point& point, int index) {
    return fmt::format("point {}, {}", index, point.label());
}

// Several where points differ by it.
std::string polling_text(const Options& options, const PollingChoice& usual) {
    if (options.polls.size() == 1) return usual.way.text();
    std::vector<std::string> ways;
    for (const auto& way : options.polls) ways.push_back(way.value_or(usual.way).text());
    return fmt::format("{}", fmt::join(ways, ","));
}

} // namespace

Launch::Launch(Job& job, const Options& options, std::filesystem::path results, const StoredChoices& stored,
               Brought brought, const StartTimes& start_times)
    : job_(job), options_(options), workload_(workload_of(options)), brought_(std::move(brought)),
      start_times_(start_times), file_(std::move(results)), prepared_(prepare(job, options, stored, start_times_)),
      measurement_(job, options, prepared_, start_times_) {}

std::string Launch::mpi_transport() const {
    return baseline_transport(prepared_.provider(), job_.layout().nodes() > 1);
}

std::string Launch::oversubscription() const {
    return a2aperf::oversubscription(job_, prepared_.cores_of_nodes, most_threads(plan()));
}

Provenance Launch::provenance() {
    const ClockAgreement& clock = measurement_.clock();
    const ProviderChoice& choice = prepared_.choice;
    const NodeLink& link = measurement_.node_link();
    Provenance facts;
    collect_facts(job_, choice, facts);
    if (!workload_.classes(options_).empty()) collect_arbitration(job_, choice.nic, facts);
    facts.clock_domain_of_rank = clock.domain_of_rank;
    facts.clock_offset = clock.offset;
    facts.clock_drift = clock.drift;
    for (const int cores : prepared_.cores_of_nodes)
        facts.node_facts["cores_of_ranks"].push_back(cores > 0 ? fmt::to_string(cores) : "");
    facts.node_facts.merge(brought_.site_facts);
    facts.environment = prepared_.environment;
    facts.labels = options_.labels;
    facts.attachments = brought_.attachments;
    facts.port_names = measurement_.port_names();
    facts.start = measurement_.start_counts();
    facts.time_origin_ns = measurement_.time_origin();
    facts.text = {{"program_version", std::string(program_version())},
                  {"commit", std::string(program_commit())},
                  {"command_line", options_.command_line},
                  {"started", format_utc(measurement_.time_origin())},
                  {"provider", prepared_.provider()},
                  {"provider_version", choice.offer.provider_version()},
                  {"libfabric_version", libfabric_version()},
                  {"mpi_version", Job::mpi_version()},
                  {"domain", domains_of(choice)},
                  {"sync", std::string(to_string(measurement_.start().start))},
                  {"sync_reason", measurement_.start().reason},
                  {"poll", polling_text(options_, prepared_.polling)},
                  {"poll_reason", prepared_.polling.reason},
                  {"memory", fmt::format("{}", fmt::join(options_.memories, ","))},
                  {"order", options_.order == Order::shuffled ? "shuffled" : "declared"},
                  {"tuned_environment", fmt::format("{}", fmt::join(choice.environment, " "))},
                  {"ignored_environment", fmt::format("{}", fmt::join(prepared_.ignored, " "))},
                  {"slurm_job_id", variable("SLURM_JOB_ID")},
                  {"baseline_transport", options_.with_mpi_baseline ? mpi_transport() : ""}};
    facts.text.merge(workload_.asked_names(options_));
    facts.integers = {{"memory_limit", static_cast<std::int64_t>(prepared_.budget.per_node)},
                      {"seed", static_cast<std::int64_t>(options_.seed)},
                      {"shuffle_ranks", options_.shuffle_ranks ? 1 : 0},
                      {"warmup", options_.warmup},
                      {"asked_ops", options_.precision ? -1 : options_.ops},
                      {"asked_min_ops", options_.precision ? options_.min_ops : -1},
                      {"asked_max_ops", options_.precision ? options_.max_ops : -1},
                      {"asked_time_budget", options_.time_budget.value_or(-1)},
                      {"rails", link.rails},
                      {"rank_rails", link.rails > 0 ? link.of_rank : -1}};
    const double unknown = std::nan("");
    facts.numbers = {{"clock_error_ns", clock.error_ns},
                     {"asked_precision", options_.precision.value_or(unknown)},
                     {"asked_link_rate", options_.link_rate.value_or(unknown)},
                     {"link_rate_gbps", link.gbps > 0 ? link.rail_gbps() : unknown}};
    facts.provider_attributes = choice.offer.attributes();
    start_times_.end(StartPhase::facts);
    facts.start_times = job_.gather(std::span(&start_times_.times(), 1));
    return facts;
}

void Launch::verify_all() {
    int verified = 0;
    for (const int index : plan().order) {
        const Point& point = plan().points[static_cast<std::size_t>(index)];
        if (!point.is_counted()) continue; // a copy of another point
        at_hand_ = named(point, index);
        measurement_.verify(point);
        ++verified;
    }
    at_hand_.clear();
    measurement_.finish();
    if (job_.is_root()) say(fmt::format("{} verified, every byte of every message\n", counted(verified, "point")));
}

// A duration is one op.
int Launch::max_attempts() const {
    if (workload_.most_ticks(options_, job_.ranks()) > 0) return 1;
    return measurement_.rules_for(Point{}).max_attempts(measurement_.start().start);
}

void Launch::open_file() {
    const RecorderSettings settings{.file = file_.path(),
                                    .max_attempts = max_attempts(),
                                    .max_ticks = workload_.most_ticks(options_, job_.ranks()),
                                    .max_buckets = workload_.most_buckets(options_, job_.ranks()),
                                    .percentile = options_.percentile,
                                    .complete_at = options_.complete_at,
                                    .provider = prepared_.provider(),
                                    .schema = workload_.schema(),
                                    .group = workload_.group(options_, plan(), job_.ranks()),
                                    .is_traced = options_.traces,
                                    .is_memory_limit_asked = options_.memory_limit.has_value(),
                                    .may_replace = options_.overwrite == Overwrite::force};
    const FileDeadline deadline(job_);
    file_.open(job_, settings, options_.overwrite == Overwrite::resume, plan(), provenance());
    if (options_.overwrite == Overwrite::resume) keep_complete();
}

// A point that is complete stays so, whatever this launch could have done.
void Launch::keep_complete() {
    for (std::size_t p = 0; p < plan().points.size(); ++p) {
        Point& point = prepared_.plan.points[p];
        if (!point.is_skipped() || !point.is_counted()) continue;
        if (!is_done_before(static_cast<int>(p))) continue;
        point.skip_reason.clear();
        prepared_.plan.order.push_back(static_cast<int>(p));
    }
}

Progress Launch::make_progress() const {
    std::vector<TimeLeft::Work> work;
    for (const int index : plan().order) {
        const Point& point = plan().points[static_cast<std::size_t>(index)];
        const bool is_done = file_.is_open() && file_.recorder().is_complete(index);
        work.push_back(
            {point.message_size, is_done ? 0 : measurement_.rules_for(point).target(), point.is_counted()});
    }
    return {job_.is_root() ? Progress::detect(options_.is_quiet) : Progress::Style::none,
            TimeLeft(std::move(work), options_.time_budget), options_.precision.has_value()};
}

void Launch::show(Progress& progress, const std::string& lines) const {
    if (!job_.is_root() || lines.empty()) return;
    progress.clear();
    say(lines);
}

void Launch::introduce(Progress& progress) const {
    for (const auto& warning : prepared_.choice.warnings) progress.note("warning: " + warning);
    if (!prepared_.choice.nic_choice.warning.empty())
        progress.note("warning: " + prepared_.choice.nic_choice.warning);
    if (const std::string words = job_.is_root() ? measurement_.adapter_words() : ""; !words.empty())
        progress.note(words);
    if (const std::string words = measurement_.link_rate_words(); !words.empty()) progress.note(words);
    if (job_.is_root() && workload_.deals_peers())
        for (const int count : dealt_over(plan()))
            if (const std::string words = off_node_words(job_.layout(), count); !words.empty())
                progress.note("warning: " + words);
    if (const std::string words = usual_sharing(plan(), prepared_.budget, job_.ranks()); !words.empty())
        progress.note(words);
    if (options_.with_mpi_baseline) progress.note("baseline: MPI_Alltoall over " + mpi_transport());
    if (file_.is_open())
        for (const auto& remark : file_.recorder().remarks()) progress.note(remark);
}

bool Launch::is_done_before(int index) {
    const int partner = plan().points[static_cast<std::size_t>(index)].partner;
    bool is_done = file_.is_open() && file_.recorder().is_complete(index) &&
                   (partner < 0 || file_.recorder().is_complete(partner));
    job_.broadcast(is_done);
    return is_done;
}

void Launch::extend(const std::vector<Point>& more, const std::vector<int>& order) {
    const FileDeadline deadline(job_);
    on_root(job_, [&] {
        file_.use([&](Recorder& recorder) { recorder.extend(more, job_.layout(), prepared_.provider()); });
    });
    // Of a file that could not become longer the last words count the points that it has.
    prepared_.plan.points.insert(prepared_.plan.points.end(), more.begin(), more.end());
    prepared_.plan.order.insert(prepared_.plan.order.end(), order.begin(), order.end());
}

void Launch::measure_points(Progress& progress, const Done& done, std::size_t first) {
    for (std::size_t place = first; place < plan().order.size(); ++place) {
        const int index = plan().order[place];
        const Point& point = plan().points[static_cast<std::size_t>(index)];
        PointOutcome outcome;
        if (is_done_before(index)) {
            outcome = stored(point, index);
        } else {
            at_hand_ = named(point, index);
            progress.begin_point(place, point.label());
            outcome = measured(point, index, progress);
            at_hand_.clear();
            if (point.is_counted()) ++points_measured_;
        }
        has_figures_ |= point.is_counted() && outcome.own.summary.count > 0; // a sentinel's are not asked for
        if (job_.is_root()) done(index, std::move(outcome));
    }
}

PointOutcome Launch::stored(const Point& point, int index) {
    PointOutcome outcome;
    if (!job_.is_root()) return outcome;
    if (point.is_counted()) ++points_before_;
    outcome.own = file_.recorder().stored(index);
    before_.insert(index);
    if (point.partner >= 0) {
        before_.insert(point.partner);
        outcome.beside = file_.recorder().stored(point.partner);
    }
    return outcome;
}

// In the file, too.
PointOutcome Launch::measured(const Point& point, int index, Progress& progress) {
    const Point* const beside =
        point.partner >= 0 ? &plan().points[static_cast<std::size_t>(point.partner)] : nullptr;
    PointOutcome outcome = measurement_.measure(point, beside, [&](int made, int expected, double op_time_ns) {
        progress.ops(made, expected, workload_.gbps_rank(point, job_.layout(), op_time_ns));
    });
    file_.has_answered(); // all ranks have been here since the last write
    if (job_.is_root()) {
        const std::span<const Column> columns = workload_.schema().columns;
        work_out(columns, outcome.own, point, job_.layout());
        if (outcome.beside) work_out(columns, *outcome.beside, *beside, job_.layout());
    }
    keep(point, index, outcome);
    if (job_.is_root()) progress.end_point();
    return outcome;
}

void Launch::keep(const Point& point, int index, const PointOutcome& outcome) {
    at_file([&](Recorder& recorder) {
        // The partner first: whoever sees this row complete finds its partner there, of the same ops.
        if (outcome.beside) {
            recorder.take_back(index);
            recorder.write(point.partner, *outcome.beside);
        }
        recorder.write(index, outcome.own);
    });
}

void Launch::at_file(const std::function<void(Recorder&)>& act) {
    at_root([&] { file_.use(act); });
}

void Launch::at_root(const std::function<void()>& act) {
    const FileDeadline deadline(job_);
    if (job_.is_root()) act();
    bool is_done = true;
    job_.broadcast(is_done);
}

Samples Launch::sample(const Point& point, const std::string& at_hand) {
    at_hand_ = at_hand;
    Samples samples = measurement_.sample(point);
    file_.has_answered();
    at_hand_.clear();
    return samples;
}

// The channels first: what they wait for has a shorter deadline.
void Launch::finish() {
    measurement_.finish();
    const FileDeadline deadline(job_);
    file_.finish();
    job_.broadcast(has_figures_);
}

} // namespace a2aperf
