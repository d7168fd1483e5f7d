// SPDX-License-Identifier: BSD-3-Clause
// The threads of a rank that do an op together: the caller's is the first of them. Between ops they touch nothing,
// so that the caller may look after all that is theirs.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "a2aperf/base/error.hpp"
#include "a2aperf/job/job.hpp"
#include "a2aperf/measure/deadline.hpp"

namespace a2aperf {

class KeptAffinity;

inline constexpr std::size_t kCacheLine = 64; // bytes that one core has for itself

// What each thread does, by its number.
struct TeamWork {
    std::function<void(std::size_t)> drive; // its share of an op, until that is over or goes_on() says no
    std::function<void(std::size_t)> keep;  // from then on, again and again, until all shares are over
};

class ThreadTeam {
public:
    // cpus: of each thread, on which it alone runs; empty: the system places them. The caller's runs on its own as
    // long as there is a team that pinned it.
    ThreadTeam(const Job& job, std::size_t threads, const std::vector<int>& cpus, const Deadline& deadline,
               TeamWork work);
    // The threads use what the caller has: they end, or the process does.
    ~ThreadTeam();
    ThreadTeam(const ThreadTeam&) = delete;
    ThreadTeam& operator=(const ThreadTeam&) = delete;

    // Before the start of an op: when it returns all are awake and wait for that. deadline: as they wait.
    void arm(const Deadline& deadline);
    // The op: returns when the shares of all are over and the caller's thread is alone again. Throws what a thread
    // threw first, also where another one does not come back.
    void run();

    // For drive(). Something happened. False where another thread has failed: then the share is over.
    [[nodiscard]] bool note(std::size_t thread) {
        std::atomic<std::uint64_t>& events = members_[thread].events; // nobody else's
        events.store(events.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
        return !has_failed_.load(std::memory_order_relaxed);
    }
    // Nothing did. False as above: what is missing will not come. fail() is called when nothing has happened to any
    // of them for the deadline's time.
    template <class Fail>
    bool goes_on(std::size_t thread, Deadline& deadline, Fail fail) {
        if (has_failed_.load(std::memory_order_relaxed)) [[unlikely]]
            return false;
        if (++members_[thread].idles == kIdlesPerLook) [[unlikely]]
            if (see_others(thread)) deadline.hold();
        if (!deadline.idle()) [[unlikely]] {
            if (see_others(thread))
                deadline.hold();
            else
                fail();
        }
        return true;
    }

    // That run on a CPU of their own.
    int pinned() const { return pinned_; }

private:
    enum class Phase { resting, armed, running, over };
    enum class State { resting, starting, awake, done };
    static constexpr unsigned kIdlesPerLook = 1024; // at the others

    struct alignas(kCacheLine) Member {
        std::atomic<std::uint64_t> events{0};
        std::uint64_t events_of_others = 0;
        unsigned idles = 0;
        bool is_pinned = false;
        alignas(kCacheLine) std::atomic<State> state{State::resting};
        std::thread thread{}; // of the caller's: none
    };

    void work(std::size_t thread, int cpu, const KeptAffinity* before);
    Phase await_phase(Phase last) const;
    bool share(std::size_t thread);
    void keep_failure() noexcept;
    bool see_others(std::size_t thread);
    bool all_are(State state) const;
    void await_shares();
    void await_rest();
    void start(const std::vector<int>& cpus);
    void end() noexcept;
    RunError held_up() const;
    [[noreturn]] void throw_held_up() const;

    const Job& job_;
    std::shared_ptr<KeptAffinity> affinity_;
    Deadline deadline_;
    TeamWork work_;
    std::vector<Member> members_;
    int pinned_ = 0;
    bool is_held_up_ = false;
    std::exception_ptr failure_; // the first, written before has_failed_ is set
    std::atomic_flag is_failing_{};
    alignas(kCacheLine) std::atomic<Phase> phase_{Phase::resting};
    std::atomic<bool> yields_{true}; // who waits for a start
    std::atomic<bool> has_failed_{false};
};

} // namespace a2aperf
