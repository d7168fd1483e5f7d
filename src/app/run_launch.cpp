// SPDX-License-Identifier: BSD-3-Clause
// The life of an MPI launch: start, agree, measure, and an end that leaves no rank behind.
#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "a2aperf/base/clock.hpp"
#include "a2aperf/base/error.hpp"
#include "a2aperf/base/terminal.hpp"
#include "a2aperf/job/launcher.hpp"
#include "a2aperf/job/stop_signal.hpp"
#include "attachments.hpp"
#include "commands.hpp"
#include "launch.hpp"
#include "leftovers.hpp"
#include "workload.hpp"

namespace a2aperf {
namespace {

constexpr int kFailed = 1;

// Two launches of one second, as in a script, get different names.
std::filesystem::path output_file(const Options& options) {
    if (options.output) return *options.output;
    std::string time = format_utc(wall_clock_ns());
    std::erase_if(time, [](char c) { return c == ':' || c == '-'; });
    std::filesystem::path file = fmt::format("a2aperf-{}.h5", time);
    for (int number = 2; std::filesystem::exists(file); ++number)
        file = fmt::format("a2aperf-{}-{}.h5", time, number);
    return file;
}

// A rank that was given other arguments would wait for the others in another place.
void agree_on_arguments(const Job& job, const Options& options) {
    std::string first = options.command_line;
    job.broadcast_text(first);
    const bool differs = first != options.command_line;
    const auto culprit = job.max(differs ? job.rank() : -1);
    if (culprit >= 0)
        throw UsageError(fmt::format("{} was started with different arguments from rank 0: give all ranks the same",
                                     job.who(static_cast<Rank>(culprit))));
}

std::string where(const Job& job, const std::string& at_hand) {
    return at_hand.empty() ? job.who(job.rank()) : fmt::format("{}, {}", job.who(job.rank()), at_hand);
}

// What of the measurement is kept, and how to go on with it; empty on ranks that have no file.
std::string kept(const std::optional<Launch>& launch) {
    return launch ? launch->file().kept(launch->plan()) : "";
}

// How a launch ends that did not come to its end.
struct Ending {
    EndReason reason = EndReason::other;
    std::string message;
    bool is_of_another = false; // rank, which has said its words itself
};

std::string names_of(const Job& job, const std::vector<Rank>& ranks) {
    std::vector<std::string> names;
    for (const Rank rank : ranks) names.push_back(job.who(rank));
    return fmt::format("{}", fmt::join(names, ", "));
}

// The file stays, since it says what was wrong; the next try has to be told what to do with it.
std::string without_figures(const std::filesystem::path& file) {
    return fmt::format(
        "no op of any point was valid: the samples in {} tell why; --resume measures these points again, "
        "--force replaces the file",
        file.string());
}

// Where a rank is known to have died, it is what the others wait for, or why they were told to stop.
Ending with_lost_ranks(const Job& job, Ending ending) {
    switch (ending.reason) {
    case EndReason::signal:
    case EndReason::peer_lost:
    case EndReason::fabric_deadline:
    case EndReason::other:
        break;
    default:
        return ending;
    }
    const std::vector<Rank> lost = job.lost_ranks();
    if (lost.empty()) return ending;
    const std::string cause = fmt::format("{} {} ended", names_of(job, lost), lost.size() == 1 ? "has" : "have");
    // The launcher's signal is what came of it; what a rank met says first who it is.
    ending.message = ending.reason == EndReason::signal ? fmt::format("{}; {}", cause, ending.message)
                                                        : fmt::format("{}; {}", ending.message, cause);
    ending.reason = EndReason::peer_lost;
    return ending;
}

// Peers may be waiting for us in the middle of anything: end the job for all.
[[noreturn]] void fail(Job& job, std::optional<Launch>& launch, const std::exception& error) {
    const bool is_of_root = dynamic_cast<const TroubleOfRoot*>(&error) != nullptr;
    const std::string whose = is_of_root ? job.who(0) : where(job, launch ? launch->at_hand() : "");
    const Ending ending = with_lost_ranks(job, {reason_of(error), fmt::format("{}: {}", whose, words_of(error))});
    const std::string rest = kept(launch);
    // Rank 0 says its own trouble; where it did not end the launch in time one of the others does.
    if (!is_of_root || job.rank() == 1) complain(ending.message + rest);
    if (launch) launch->file().close(EndState::failed, ending.reason, ending.message);
    remove_own_segments();
    job.abort(kFailed, ending.message, ending.reason);
}

// What a peer's death looks like from here is no failure of ours: then the launcher tells us to stop.
[[noreturn]] void give_up(Job& job, std::optional<Launch>& launch, const std::exception& error, Ending& trouble) {
    if (StopSignal::number() == 0) trouble = {reason_of(error), error.what()};
    // Rank 0 says its own trouble before it ends the launch: the others give it time.
    const int waits = dynamic_cast<const TroubleOfRoot*>(&error) != nullptr ? 10 : 1;
    for (int i = 0; i < waits; ++i)
        if (StopSignal::is_coming([&] { job.progress(); })) job.leave(StopSignal::number());
    fail(job, launch, error);
}

std::string stopped_by(int signal_number, const std::optional<Launch>& launch) {
    const bool measures = launch && !launch->at_hand().empty();
    // The launcher does not pass on which one it got itself.
    const char* also = signal_number == SIGTERM ? "; mpirun sends it on ^C, too" : "";
    return fmt::format("stopped by signal {} ({}{}) {}", signal_number, strsignal(signal_number), also,
                       measures ? "at " + launch->at_hand() : "while no point was being measured");
}

// For a rank that a call of MPI holds: closes the file and says so; gives the exit status. Without MPI.
int leave_call(const Job& job, std::optional<Launch>& launch, int signal_number, const std::string& call) {
    remove_own_segments();
    const bool is_stop = signal_number != 0;
    const int status = is_stop ? StopSignal::exit_status(signal_number) : kFailed;
    if (is_stop && !job.is_root()) return status;
    const std::string said =
        is_stop ? stopped_by(signal_number, launch)
                : fmt::format("{}: {} did not end within {}: a rank is stopped, dead or far behind",
                              where(job, launch ? launch->at_hand() : ""), call, format_duration(job.timeout()));
    const Ending ending = with_lost_ranks(job, {is_stop ? EndReason::signal : EndReason::fabric_deadline, said});
    complain(ending.message + kept(launch));
    if (launch)
        launch->file().close(is_stop ? EndState::interrupted : EndState::failed, ending.reason, ending.message);
    return status;
}

// Why rank 0 was told to stop. trouble: what went wrong before the signal came.
Ending why_stopped(const Job& job, const std::optional<Launch>& launch, int signal_number, const Ending& trouble) {
    const auto [reason, of_another] = job.last_words();
    if (of_another.empty()) {
        const std::string after = trouble.message.empty() ? "" : fmt::format(", after {}", trouble.message);
        // Somebody stopped these, and the launcher then the others.
        const std::vector<Rank> lost = job.lost_ranks();
        if (!lost.empty() && std::ranges::all_of(lost, [&](Rank rank) { return job.left_for_signal(rank); }))
            return {EndReason::signal, fmt::format("{}; {} left for a signal before",
                                                   stopped_by(signal_number, launch) + after, names_of(job, lost))};
        const bool is_lost = trouble.reason == EndReason::peer_lost;
        return with_lost_ranks(
            job, {is_lost ? EndReason::peer_lost : EndReason::signal, stopped_by(signal_number, launch) + after});
    }
    // They could not know what rank 0 was about.
    const Nanoseconds waited = launch ? launch->file().kept_waiting() : 0;
    if (reason != EndReason::fabric_deadline || waited < job.timeout()) return {reason, of_another, true};
    return {EndReason::disk_deadline,
            fmt::format("{}; {} was at its file for {}", of_another, job.who(job.rank()), format_duration(waited)),
            true};
}

// Rank 0 closes the file and says so; gives the exit status.
int stop(const Job& job, std::optional<Launch>& launch, int signal_number, const Ending& trouble) {
    remove_own_segments();
    if (!job.is_root()) return StopSignal::exit_status(signal_number);
    const Ending ending = why_stopped(job, launch, signal_number, trouble);
    const std::string rest = kept(launch);
    const EndState state = ending.is_of_another ? EndState::failed : EndState::interrupted;
    if (launch) launch->file().close(state, ending.reason, ending.message);
    complain((ending.is_of_another ? "ended by another rank" : ending.message) + rest);
    return ending.is_of_another ? kFailed : StopSignal::exit_status(signal_number);
}

void require_ranks(const Options& options) {
    if (!launched_ranks())
        throw UsageError(
            fmt::format("not launched by MPI: use mpirun -n 4 a2aperf {} …, or srun (--dry-run works without)",
                        options.workload));
    const Workload& workload = workload_of(options);
    if (const int least = workload.least_ranks(options); *launched_ranks() < least)
        throw UsageError(
            fmt::format("{} at least {} ranks: use mpirun -n {} or more", workload.demands(), least, least));
}

} // namespace

int run_launch(int argc, char** argv, const Options& options) {
    require_ranks(options);
    StartTimes start_times;
    const std::filesystem::path results = output_file(options);
    Launch::Brought brought;
    StoredChoices stored;
    if (launched_rank() == 0 && !options.verify_only) {
        stored = check_output(results, options.overwrite == Overwrite::resume,
                              options.overwrite == Overwrite::force, workload_of(options).schema());
        brought.attachments = read_attachments(options.attachments);
    }

    // Before MPI: it wants room in shared memory, too.
    const RemovedSegments removed = remove_dead_segments();
    StopSignal::install();
    start_times.end(StartPhase::before_mpi);
    const Nanoseconds first =
        options.overwrite == Overwrite::resume && !options.verify_only ? longest_check(results) : 0;
    Job job(argc, argv, {options.shuffle_ranks, options.seed}, options.timeout, first);
    start_times.end(StartPhase::mpi_init, job.initialised());
    std::optional<Launch> launch;
    Ending trouble;
    job.set_last_act([&](int signal_number) { return stop(job, launch, signal_number, trouble); });
    job.set_leave_call(
        [&](int signal_number, const std::string& call) { return leave_call(job, launch, signal_number, call); });
    job.set_give_up([&](const std::exception& error) { give_up(job, launch, error, trouble); });
    try {
        agree_on_arguments(job, options);
        tell_removed(job, removed);
        bring_to_root(job, brought.attachments, options.attachments.size());
        if (options.site_facts) brought.site_facts = read_site_facts(job, *options.site_facts);
        start_times.end(StartPhase::ranks);
        launch.emplace(job, options, results, stored, std::move(brought), start_times);
        launch->connect();
        bool has_result = true;
        if (options.verify_only) {
            launch->verify_all();
        } else {
            workload_of(options).measure(*launch);
            has_result = launch->has_figures();
        }
        launch.reset(); // the fabric before MPI
        if (!has_result && job.is_root()) complain(without_figures(results));
        return has_result ? 0 : kFailed;
    } catch (const UsageError& error) {
        if (launch) launch->file().close(EndState::failed, EndReason::other, error.what());
        launch.reset();
        if (job.is_root()) complain(error.what());
        return 2;
    } catch (const NothingToMeasure& error) {
        if (job.is_root()) complain(error.what());
        return NothingToMeasure::kExitStatus;
    } catch (const Interrupted& stop) {
        job.leave(stop.signal_number());
    } catch (const RunError& error) {
        give_up(job, launch, error, trouble);
    } catch (const std::exception& error) {
        fail(job, launch, error);
    }
}

} // namespace a2aperf
