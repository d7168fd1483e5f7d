// SPDX-License-Identifier: BSD-3-Clause
// The life of an MPI launch: start, agree, measure, and an end that leaves no rank behind.
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <thread>

#include <fmt/format.h>

#include "a2aperf/base/clock.hpp"
#include "a2aperf/base/error.hpp"
#include "a2aperf/job/launcher.hpp"
#include "a2aperf/job/stop_signal.hpp"
#include "attachments.hpp"
#include "commands.hpp"
#include "launch.hpp"

namespace a2aperf {
namespace {

constexpr int kSignalBase = 128;

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

void say(const std::string& text) {
    std::fprintf(stderr, "a2aperf: %s\n", text.c_str());
}

// A rank that was given other arguments would wait for the others in another place.
void agree_on_arguments(const Job& job, const Options& options) {
    std::string first = options.command_line;
    job.broadcast_text(first);
    const bool differs = first != options.command_line;
    const auto culprit = job.max(differs ? job.rank() : -1);
    if (culprit >= 0)
        throw UsageError(fmt::format("{} was started with other arguments than rank 0: give all ranks the same",
                                     job.who(static_cast<Rank>(culprit))));
}

std::string where(const Job& job, const std::string& at_hand) {
    return at_hand.empty() ? job.who(job.rank()) : fmt::format("{}, {}", job.who(job.rank()), at_hand);
}

// Peers may be waiting for us in the middle of anything: end the job for all.
[[noreturn]] void fail(Job& job, std::optional<Launch>& launch, const std::exception& error) {
    const std::string message = fmt::format("{}: {}", where(job, launch ? launch->at_hand() : ""), words_of(error));
    say(message);
    if (launch) launch->close(EndState::failed, message);
    // Others may be about to say whom they wait for.
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    job.abort(1);
}

int interrupted(Job& job, std::optional<Launch>& launch, const Interrupted& stop) {
    if (launch) {
        const std::string message = fmt::format("stopped by signal {} at {}", stop.signal_number(),
                                                launch->at_hand().empty() ? "no point" : launch->at_hand());
        launch->close(EndState::interrupted, message);
        if (job.is_root())
            say(fmt::format("{}; {} points are complete in {}", message, launch->points_done(),
                            launch->file().string()));
    }
    // No goodbye through MPI: peers may be gone already.
    std::fflush(stdout);
    _exit(kSignalBase + stop.signal_number());
}

} // namespace

int run_launch(int argc, char** argv, const Options& options) {
    if (!launched_ranks())
        throw UsageError(
            fmt::format("not launched by MPI: use mpirun -n 4 a2aperf {} …, or srun (--dry-run works without)",
                        to_string(options.command)));
    if (*launched_ranks() < 2)
        throw UsageError(fmt::format("{} at least 2 ranks: use mpirun -n 2 or more",
                                     options.command == Command::pairs ? "pairs need" : "an all-to-all needs"));
    Launch::Files files{output_file(options), {}};
    if (launched_rank() == 0 && !options.verify_only) {
        check_output(files.results, options.overwrite == Overwrite::resume, options.overwrite == Overwrite::force);
        files.attachments = read_attachments(options.attachments);
    }

    StopSignal::install();
    Job job(argc, argv, {options.shuffle_ranks, options.seed}, options.timeout);
    std::optional<Launch> launch;
    try {
        agree_on_arguments(job, options);
        bring_to_root(job, files.attachments, options.attachments.size());
        launch.emplace(job, options, std::move(files));
        if (options.verify_only)
            launch->verify_all();
        else if (options.command == Command::pairs)
            launch->measure_pairs();
        else
            launch->measure_all();
        launch.reset(); // the fabric before MPI
        return 0;
    } catch (const UsageError& error) {
        launch.reset();
        if (job.is_root()) say(error.what());
        return 2;
    } catch (const Interrupted& stop) {
        return interrupted(job, launch, stop);
    } catch (const std::exception& error) {
        fail(job, launch, error);
    }
}

} // namespace a2aperf
