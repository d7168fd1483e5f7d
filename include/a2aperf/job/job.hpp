// SPDX-License-Identifier: BSD-3-Clause
// The ranks of this launch: who they are and how they agree. The only user of MPI beside the MPI baseline.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "a2aperf/base/end_reason.hpp"
#include "a2aperf/job/peer_processes.hpp"
#include "a2aperf/plan/layout.hpp"

namespace a2aperf {

struct RankShuffle {
    bool is_wanted = false;
    std::uint64_t seed = 0;
};

class Job {
public:
    // MPI_Init; a shuffle renumbers the ranks by the seed. The timeout holds from the ranks' first words on;
    // before, a rank may be late by what another one does first.
    Job(int& argc, char**& argv, RankShuffle shuffle, Nanoseconds timeout = 60'000'000'000, Nanoseconds first = 0);
    ~Job(); // MPI_Finalize
    Job(const Job&) = delete;
    Job& operator=(const Job&) = delete;

    Rank rank() const { return rank_; }
    int ranks() const { return static_cast<int>(hosts_.size()); }
    bool is_root() const { return rank_ == 0; }
    const Layout& layout() const { return *layout_; }
    Nanoseconds initialised() const { return initialised_; } // when MPI_Init had returned
    const std::string& host(Rank rank) const { return hosts_[static_cast<std::size_t>(rank)]; }
    // MPI_COMM_WORLD rank of each rank, [R]
    const std::vector<int>& world_ranks() const { return world_ranks_; }
    std::string who(Rank rank) const;                   // "rank 3 (node017)"
    std::string who(std::span<const Rank> ranks) const; // of the first three, and how many more there are

    // How long any wait below may take without an answer; then RunError says who waits for what.
    void set_timeout(Nanoseconds timeout) { timeout_ = timeout; }
    Nanoseconds timeout() const { return timeout_; }

    // Every rank's bytes in rank order, on every rank or on rank 0 only (empty elsewhere). T is trivially
    // copyable; all ranks pass the same number of items.
    template <class T>
    std::vector<T> all_gather(std::span<const T> mine) const;
    template <class T>
    std::vector<T> all_gather(const T& mine) const {
        return all_gather(std::span<const T>(&mine, 1));
    }
    template <class T>
    std::vector<T> gather(std::span<const T> mine) const;
    // mine: a number for each rank, [R]. Gives what each rank has for this one.
    std::vector<std::int64_t> all_to_all(std::span<const std::int64_t> mine) const;
    // Strings of any length, in rank order, on every rank.
    std::vector<std::string> all_gather_text(const std::string& mine) const;
    // The same on rank 0 only; empty elsewhere.
    std::vector<std::string> gather_text(const std::string& mine) const;
    // What one rank may find out alone, with who it is, so that all throw the same: of the first that has something
    // to say, on every rank; empty where none has.
    std::string first_text(const std::string& mine) const;

    template <class T>
    void broadcast(T& value) const {
        static_assert(std::is_trivially_copyable_v<T>);
        broadcast_bytes(&value, sizeof value);
    }
    void broadcast_text(std::string& text) const;
    std::int64_t max(std::int64_t mine) const;
    std::int64_t min(std::int64_t mine) const;
    void barrier() const;

    // A non-blocking agreement on the element-wise maximum that also is a barrier: nobody sees the result
    // before all have entered. One at a time.
    using Ballot = std::array<std::int64_t, 3>;
    void enter(const Ballot& mine);
    bool is_agreed(); // makes progress; true once, then result() is valid
    const Ballot& result() const { return ballot_result_; }

    // For a rank that has waited in vain: who of the others does not wait as it does. Ranks 0 and 1 find out,
    // within a second in which all that wait tell them, and answer; a rank that hears from neither gives these two.
    std::vector<Rank> missing_ranks() const;

    // Point-to-point messages while nothing is timed: of the agreement on clocks, and of what servers tell clients.
    void send(Rank to, std::span<const std::int64_t> values) const;
    void receive(Rank from, std::span<std::int64_t> values) const;

    // An empty message that nobody need wait for; and whether such ones came since the last time. Those that nobody
    // takes are left to MPI: it holds so small ones.
    void beat(Rank to) const;
    bool take_beats(Rank from) const;

    // What a rank does before it leaves for a signal, such as closing the file; gives its exit status.
    using LastAct = std::function<int(int signal_number)>;
    void set_last_act(LastAct act) { last_act_ = std::move(act); }
    // Does the last act and ends this process without MPI's goodbye, for which peers may be gone already. Rank 0
    // goes first: a launcher that sees one rank leave may kill the others. They wait for its word, a few seconds at
    // most. Every wait below ends here when a signal to stop has waited for too long.
    [[noreturn]] void leave(int signal_number) const;

    // What a rank does that is held in a call of MPI which it cannot leave (Watchdog): another thread does it,
    // without MPI. call: its name, for messages; signal_number is 0 where its deadline has passed. Gives the exit
    // status.
    using LeaveCall = std::function<int(int signal_number, const std::string& call)>;
    void set_leave_call(LeaveCall act) { leave_call_ = std::move(act); }
    int leave_call(int signal_number, const std::string& call) const;

    // A wait below that fails leaves MPI with memory of its callers, to which it may still write. It calls this
    // first, which must end the process: unwinding would give that memory away. Where none is set the error is
    // thrown.
    using GiveUp = std::function<void(const std::exception&)>;
    void set_give_up(GiveUp give_up) { give_up_ = std::move(give_up); }
    // For who waits in vain for something else that uses its memory, such as a thread. Returns where none is set,
    // or that returns.
    void give_up(const std::exception& error) const {
        if (give_up_) give_up_(error);
    }

    // Ends every process of the job with this status, once rank 0 was told why: its wait may end for the
    // launcher's signal. Does not return.
    [[noreturn]] void abort(int status, const std::string& why, EndReason reason) const;
    // What abort tells rank 0, up to 1000 bytes; returns after 0.3 s, in which others may say whom they wait for,
    // or later where rank 0 has not taken it.
    void tell_root(const std::string& why, EndReason reason) const;
    // Lets MPI move what others send: it does so only in calls.
    void progress() const;
    // On rank 0: why another rank ended the job; no text when none did.
    struct LastWords {
        EndReason reason = EndReason::other;
        std::string text;
    };
    LastWords last_words() const;
    // On rank 0: whether that rank said that it leaves for a signal: the launcher's, or one that it alone got.
    bool left_for_signal(Rank rank) const;
    // Other ranks whose processes are known to have ended: those that this one can see.
    std::vector<Rank> lost_ranks() const { return peers_.ended(); }

    // "Open MPI 4.1.4 (MPI 3.1)"
    static std::string mpi_version();

private:
    void gather_bytes(const void* mine, std::size_t bytes, void* all, bool to_all) const;
    void broadcast_bytes(void* data, std::size_t bytes) const;
    void wait(const char* what) const;
    void test_until_done(const char* what) const;
    std::string why_in_vain() const;
    void await_farewell() const;
    std::vector<std::string> collect_text(const std::string& mine, bool to_all) const;

    struct Mpi; // communicator and request: mpi.h stays in job.cpp
    std::unique_ptr<Mpi> mpi_;
    Rank rank_ = 0;
    Nanoseconds timeout_;
    Nanoseconds initialised_ = 0;
    std::vector<std::string> hosts_;
    std::vector<int> world_ranks_;
    PeerProcesses peers_;
    std::unique_ptr<Layout> layout_;
    Ballot ballot_{}, ballot_result_{};
    LastAct last_act_;
    LeaveCall leave_call_;
    GiveUp give_up_;
};

template <class T>
std::vector<T> Job::all_gather(std::span<const T> mine) const {
    static_assert(std::is_trivially_copyable_v<T>);
    std::vector<T> all(mine.size() * static_cast<std::size_t>(ranks()));
    gather_bytes(mine.data(), mine.size_bytes(), all.data(), true);
    return all;
}

template <class T>
std::vector<T> Job::gather(std::span<const T> mine) const {
    static_assert(std::is_trivially_copyable_v<T>);
    std::vector<T> all(is_root() ? mine.size() * static_cast<std::size_t>(ranks()) : 0);
    gather_bytes(mine.data(), mine.size_bytes(), all.data(), false);
    return all;
}

} // namespace a2aperf
