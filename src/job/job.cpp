// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/job/job.hpp"

#include <mpi.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <map>
#include <numeric>
#include <stdexcept>
#include <thread>

#include <fmt/format.h>

#include "a2aperf/base/clock.hpp"
#include "a2aperf/base/error.hpp"
#include "a2aperf/base/random.hpp"
#include "a2aperf/base/terminal.hpp"
#include "a2aperf/base/utf8.hpp"
#include "a2aperf/job/error.hpp"
#include "a2aperf/job/launcher.hpp"
#include "a2aperf/job/stop_signal.hpp"
#include "roll_call.hpp"
#include "tags.hpp"
#include "watched_call.hpp"

namespace a2aperf {
namespace {

constexpr std::size_t kLongestWords = 1000; // few enough to be sent without rank 0's help

int checked_count(std::size_t bytes) {
    if (bytes > static_cast<std::size_t>(std::numeric_limits<int>::max()))
        throw std::length_error(fmt::format("{} bytes are too many for one MPI message", bytes));
    return static_cast<int>(bytes);
}

bool is_done_within(MPI_Request& request, Nanoseconds limit) {
    int is_done = 0;
    for (const Nanoseconds begin = now_ns(); is_done == 0 && now_ns() - begin < limit;) {
        MPI_Test(&request, &is_done, MPI_STATUS_IGNORE);
        if (is_done == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return is_done != 0;
}

} // namespace

struct Job::Mpi {
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Request ballot = MPI_REQUEST_NULL;
    MPI_Request request = MPI_REQUEST_NULL; // of the collective or message under way
    RollCall roll_call;
};

Job::Job(int& argc, char**& argv, RankShuffle shuffle, Nanoseconds timeout, Nanoseconds first)
    : mpi_(std::make_unique<Mpi>()), timeout_(timeout) {
    constexpr Nanoseconds kToStart = 600'000'000'000; // as long as the jobs wait for the first sign of life
    int provided = 0;
    const auto init = [&] { return MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided); };
    check_mpi(watched(init, "MPI_Init_thread", launched_rank().value_or(0), first + std::max(timeout, kToStart)),
              "MPI_Init_thread");
    initialised_ = now_ns();
    // Otherwise MPI ends the job at its first error: before the file is closed, and with words that do not say what
    // was under way. Communicators made from this one inherit it.
    check_mpi(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    int world_rank = 0;
    int size = 0;
    check_mpi(MPI_Comm_rank(MPI_COMM_WORLD, &world_rank), "MPI_Comm_rank");
    check_mpi(MPI_Comm_size(MPI_COMM_WORLD, &size), "MPI_Comm_size");

    std::vector<int> position(static_cast<std::size_t>(size));
    std::iota(position.begin(), position.end(), 0);
    if (shuffle.is_wanted) Random(shuffle.seed).shuffle(std::span(position));
    const int place = position[static_cast<std::size_t>(world_rank)];
    const auto split = [&] { return MPI_Comm_split(MPI_COMM_WORLD, 0, place, &mpi_->comm); };
    check_mpi(watched(split, "MPI_Comm_split", world_rank, timeout_), "MPI_Comm_split");
    check_mpi(MPI_Comm_rank(mpi_->comm, &rank_), "MPI_Comm_rank");

    hosts_.resize(static_cast<std::size_t>(size)); // ranks() counts them
    struct Facts {
        int world_rank;
        PeerProcesses::Process process;
    };
    std::vector<PeerProcesses::Process> processes;
    for (const Facts& of_rank : all_gather(Facts{world_rank, PeerProcesses::own()})) {
        world_ranks_.push_back(of_rank.world_rank);
        processes.push_back(of_rank.process);
    }
    peers_ = PeerProcesses(processes);
    hosts_ = all_gather_text(this_host());

    // Nodes are numbered by their first rank.
    std::map<std::string, int> number;
    std::vector<int> node_of_rank;
    for (const auto& host : hosts_)
        node_of_rank.push_back(number.try_emplace(host, static_cast<int>(number.size())).first->second);
    layout_ = std::make_unique<Layout>(std::move(node_of_rank));
}

Job::~Job() {
    // What was measured is in the file by now; that the end went wrong is all there is to tell.
    const auto check = [this](int status, const char* call) {
        try {
            check_mpi(status, call);
        } catch (const RunError& error) {
            complain(fmt::format("{}: {}", who(rank_), error.what()));
        }
    };
    check(MPI_Comm_free(&mpi_->comm), "MPI_Comm_free");
    check(watched([] { return MPI_Finalize(); }, "MPI_Finalize", rank_, timeout_), "MPI_Finalize");
}

std::string Job::who(Rank rank) const {
    if (hosts_[static_cast<std::size_t>(rank)].empty()) return fmt::format("rank {}", rank);
    return fmt::format("rank {} ({})", rank, host(rank));
}

std::string Job::who(std::span<const Rank> ranks) const {
    constexpr std::size_t kMost = 3;
    std::string text;
    for (std::size_t i = 0; i < std::min(ranks.size(), kMost); ++i)
        text += fmt::format("{}{}", i > 0 ? ", " : "", who(ranks[i]));
    return ranks.size() > kMost ? fmt::format("{} and {} more", text, ranks.size() - kMost) : text;
}

void Job::gather_bytes(const void* mine, std::size_t bytes, void* all, bool to_all) const {
    const int count = checked_count(bytes);
    if (to_all)
        check_mpi(MPI_Iallgather(mine, count, MPI_BYTE, all, count, MPI_BYTE, mpi_->comm, &mpi_->request),
                  "MPI_Iallgather");
    else
        check_mpi(MPI_Igather(mine, count, MPI_BYTE, all, count, MPI_BYTE, 0, mpi_->comm, &mpi_->request),
                  "MPI_Igather");
    wait("to gather from all ranks");
}

std::vector<std::int64_t> Job::all_to_all(std::span<const std::int64_t> mine) const {
    std::vector<std::int64_t> theirs(mine.size());
    check_mpi(MPI_Ialltoall(mine.data(), 1, MPI_INT64_T, theirs.data(), 1, MPI_INT64_T, mpi_->comm, &mpi_->request),
              "MPI_Ialltoall");
    wait("to tell all ranks a number each");
    return theirs;
}

void Job::broadcast_bytes(void* data, std::size_t bytes) const {
    check_mpi(MPI_Ibcast(data, checked_count(bytes), MPI_BYTE, 0, mpi_->comm, &mpi_->request), "MPI_Ibcast");
    wait("for rank 0's broadcast");
}

void Job::broadcast_text(std::string& text) const {
    std::size_t length = text.size();
    broadcast(length);
    text.resize(length);
    broadcast_bytes(text.data(), length);
}

std::vector<std::string> Job::collect_text(const std::string& mine, bool to_all) const {
    const auto length = static_cast<int>(mine.size());
    const std::vector<int> lengths = to_all ? all_gather(length) : gather(std::span(&length, 1));
    std::vector<int> offsets(lengths.size());
    std::exclusive_scan(lengths.begin(), lengths.end(), offsets.begin(), 0);
    // Empty where nothing is gathered: R texts on R ranks of a node are R x R.
    std::string all(lengths.empty() ? 0 : static_cast<std::size_t>(offsets.back() + lengths.back()), '\0');
    if (to_all)
        check_mpi(MPI_Iallgatherv(mine.data(), length, MPI_CHAR, all.data(), lengths.data(), offsets.data(),
                                  MPI_CHAR, mpi_->comm, &mpi_->request),
                  "MPI_Iallgatherv");
    else
        check_mpi(MPI_Igatherv(mine.data(), length, MPI_CHAR, all.data(), lengths.data(), offsets.data(), MPI_CHAR,
                               0, mpi_->comm, &mpi_->request),
                  "MPI_Igatherv");
    wait("to gather text from all ranks");
    std::vector<std::string> texts;
    if (!to_all && !is_root()) return texts;
    for (std::size_t r = 0; r < lengths.size(); ++r)
        texts.push_back(all.substr(static_cast<std::size_t>(offsets[r]), static_cast<std::size_t>(lengths[r])));
    return texts;
}

std::vector<std::string> Job::all_gather_text(const std::string& mine) const {
    return collect_text(mine, true);
}

std::vector<std::string> Job::gather_text(const std::string& mine) const {
    return collect_text(mine, false);
}

std::string Job::first_text(const std::string& mine) const {
    const auto texts = gather_text(mine);
    std::string first;
    for (std::size_t rank = 0; rank < texts.size() && first.empty(); ++rank)
        if (!texts[rank].empty()) first = fmt::format("{}: {}", who(static_cast<Rank>(rank)), texts[rank]);
    broadcast_text(first);
    return first;
}

std::int64_t Job::max(std::int64_t mine) const {
    std::int64_t largest = 0;
    check_mpi(MPI_Iallreduce(&mine, &largest, 1, MPI_INT64_T, MPI_MAX, mpi_->comm, &mpi_->request),
              "MPI_Iallreduce");
    wait("for all ranks to compare");
    return largest;
}

std::int64_t Job::min(std::int64_t mine) const {
    return -max(-mine);
}

void Job::barrier() const {
    check_mpi(MPI_Ibarrier(mpi_->comm, &mpi_->request), "MPI_Ibarrier");
    wait("at a barrier for all ranks");
}

void Job::wait(const char* what) const {
    try {
        test_until_done(what);
    } catch (const RunError& error) {
        give_up(error);
        throw;
    }
}

// No blocking call of MPI is used: a peer that died or was stopped would keep us for ever.
void Job::test_until_done(const char* what) const {
    constexpr int kTestsBeforeSleep = 20'000;
    const Nanoseconds begin = now_ns();
    for (int tests = 0;; ++tests) {
        int is_done = 0;
        check_mpi(MPI_Test(&mpi_->request, &is_done, MPI_STATUS_IGNORE), "MPI_Test");
        if (is_done != 0) return;
        if (tests % 64 == 0) {
            // From here and not by an exception: MPI may still write to what the callers hold.
            if (StopSignal::is_overdue()) leave(StopSignal::number());
            const Nanoseconds waited = now_ns() - begin;
            if (waited > timeout_)
                throw RunError(fmt::format("it waited {} {}: {}", format_duration(waited), what, why_in_vain()),
                               EndReason::fabric_deadline);
        }
        // Ranks that outnumber the cores must let the last one run.
        if (tests < kTestsBeforeSleep)
            sched_yield();
        else
            std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
}

// Whom nobody hears while the others wait: known where a listener answers.
std::string Job::why_in_vain() const {
    const RollCall::Answer answer = mpi_->roll_call.ask(mpi_->comm);
    const std::string who_it_is = answer.is_heard && !answer.missing.empty() ? who(answer.missing) : "a rank";
    return fmt::format("{} {} stopped, dead or far behind", who_it_is,
                       answer.missing.size() > 1 && answer.is_heard ? "are" : "is");
}

void Job::enter(const Ballot& mine) {
    ballot_ = mine;
    check_mpi(MPI_Iallreduce(ballot_.data(), ballot_result_.data(), static_cast<int>(ballot_.size()), MPI_INT64_T,
                             MPI_MAX, mpi_->comm, &mpi_->ballot),
              "MPI_Iallreduce");
}

bool Job::is_agreed() {
    int is_done = 0;
    check_mpi(MPI_Test(&mpi_->ballot, &is_done, MPI_STATUS_IGNORE), "MPI_Test");
    return is_done != 0;
}

std::vector<Rank> Job::missing_ranks() const {
    return mpi_->roll_call.ask(mpi_->comm).missing;
}

void Job::send(Rank to, std::span<const std::int64_t> values) const {
    check_mpi(
        MPI_Isend(values.data(), checked_count(values.size()), MPI_INT64_T, to, 0, mpi_->comm, &mpi_->request),
        "MPI_Isend");
    wait("to send to a peer");
}

void Job::receive(Rank from, std::span<std::int64_t> values) const {
    check_mpi(
        MPI_Irecv(values.data(), checked_count(values.size()), MPI_INT64_T, from, 0, mpi_->comm, &mpi_->request),
        "MPI_Irecv");
    wait(fmt::format("for a message of {}", who(from)).c_str());
}

void Job::beat(Rank to) const {
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(MPI_Isend(nullptr, 0, MPI_BYTE, to, kHeartbeat, mpi_->comm, &request), "MPI_Isend");
    check_mpi(MPI_Request_free(&request), "MPI_Request_free");
}

bool Job::take_beats(Rank from) const {
    for (bool is_any = false;; is_any = true) {
        int has_come = 0;
        check_mpi(MPI_Iprobe(from, kHeartbeat, mpi_->comm, &has_come, MPI_STATUS_IGNORE), "MPI_Iprobe");
        if (has_come == 0) return is_any;
        check_mpi(MPI_Recv(nullptr, 0, MPI_BYTE, from, kHeartbeat, mpi_->comm, MPI_STATUS_IGNORE), "MPI_Recv");
    }
}

void Job::leave(int signal_number) const {
    if (!is_root()) {
        MPI_Request word = MPI_REQUEST_NULL;
        MPI_Isend(nullptr, 0, MPI_BYTE, 0, kSignalled, mpi_->comm, &word);
    }
    const int status = last_act_ ? last_act_(signal_number) : StopSignal::exit_status(signal_number);
    await_farewell();
    std::fflush(stdout);
    _exit(status);
}

// Rank 0's word goes from rank to rank along a binary tree. Errors are of no interest: who hears nothing leaves.
void Job::await_farewell() const {
    constexpr Nanoseconds kToHear = 3'000'000'000; // a file system may take its time; Slurm kills after 5 s
    constexpr Nanoseconds kToPassOn = 100'000'000;
    MPI_Request word = MPI_REQUEST_NULL;
    if (!is_root()) {
        MPI_Irecv(nullptr, 0, MPI_BYTE, (rank_ - 1) / 2, kFarewell, mpi_->comm, &word);
        if (!is_done_within(word, kToHear)) return;
    }
    for (Rank next = 2 * rank_ + 1; next <= 2 * rank_ + 2 && next < ranks(); ++next) {
        MPI_Isend(nullptr, 0, MPI_BYTE, next, kFarewell, mpi_->comm, &word);
        is_done_within(word, kToPassOn);
    }
}

void Job::abort(int status, const std::string& why, EndReason reason) const {
    tell_root(why, reason);
    MPI_Abort(MPI_COMM_WORLD, status);
    std::_Exit(status); // MPI_Abort is allowed to return
}

// The first message between two ranks may take several steps of both to connect them.
void Job::tell_root(const std::string& why, EndReason reason) const {
    constexpr Nanoseconds kForOthers = 300'000'000;
    constexpr Nanoseconds kToArrive = 2'000'000'000;
    const Nanoseconds begin = now_ns();
    // The reason is the first byte.
    const std::string words = static_cast<char>(reason) + cut_utf8(why, kLongestWords);
    if (!is_root()) {
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Isend(words.data(), static_cast<int>(words.size()), MPI_CHAR, 0, kLastWords, mpi_->comm, &request);
        is_done_within(request, kToArrive);
    }
    while (now_ns() - begin < kForOthers) {
        progress();
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

int Job::leave_call(int signal_number, const std::string& call) const {
    if (leave_call_) return leave_call_(signal_number, call);
    return signal_number != 0 ? StopSignal::exit_status(signal_number) : EXIT_FAILURE;
}

// Errors are of no interest: whoever waits here has one already.
void Job::progress() const {
    int has_come = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, kLastWords, mpi_->comm, &has_come, MPI_STATUS_IGNORE);
}

Job::LastWords Job::last_words() const {
    constexpr int kLooks = 20; // what was sent long ago is not seen by the first of them
    int has_come = 0;
    int length = 0;
    MPI_Status status;
    for (int look = 0; look < kLooks && has_come == 0; ++look) {
        MPI_Iprobe(MPI_ANY_SOURCE, kLastWords, mpi_->comm, &has_come, &status);
        if (has_come == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    if (has_come == 0) return {};
    MPI_Get_count(&status, MPI_CHAR, &length);
    std::string words(static_cast<std::size_t>(length), '\0');
    MPI_Recv(words.data(), length, MPI_CHAR, status.MPI_SOURCE, kLastWords, mpi_->comm, MPI_STATUS_IGNORE);
    if (words.empty()) return {};
    return {static_cast<EndReason>(words.front()), words.substr(1)};
}

bool Job::left_for_signal(Rank rank) const {
    int has_come = 0;
    MPI_Iprobe(rank, kSignalled, mpi_->comm, &has_come, MPI_STATUS_IGNORE);
    return has_come != 0;
}

std::string Job::mpi_version() {
    std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
    int length = 0;
    MPI_Get_library_version(text.data(), &length);
    std::string version(text.data(), static_cast<std::size_t>(length));
    return version.substr(0, version.find(','));
}

} // namespace a2aperf
