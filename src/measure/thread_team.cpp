// SPDX-License-Identifier: BSD-3-Clause
#include "thread_team.hpp"

#include <sched.h>

#include <algorithm>
#include <span>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "a2aperf/base/clock.hpp"
#include "a2aperf/base/error.hpp"
#include "a2aperf/base/units.hpp"
#include "a2aperf/fabric/locality.hpp"
#include "a2aperf/job/stop_signal.hpp"

namespace a2aperf {
namespace {

// After an op the next one is prepared at once; where it is not, another engine has its turn.
constexpr Nanoseconds kAwake = 50'000;

std::weak_ptr<KeptAffinity>& kept_affinity() {
    static std::weak_ptr<KeptAffinity> kept;
    return kept;
}

// Of several teams in one thread the last one restores it.
std::shared_ptr<KeptAffinity> keep_affinity() {
    auto mine = kept_affinity().lock();
    if (!mine) kept_affinity() = mine = std::make_shared<KeptAffinity>();
    return mine;
}

} // namespace

ThreadTeam::ThreadTeam(const Job& job, std::size_t threads, const std::vector<int>& cpus, const Deadline& deadline,
                       TeamWork work)
    : job_(job), affinity_(cpus.empty() ? nullptr : keep_affinity()), deadline_(deadline), work_(std::move(work)),
      members_(threads) {
    try {
        start(cpus);
    } catch (const std::system_error& error) {
        end();
        throw RunError(fmt::format("{} could not start {}: {}", job.who(job.rank()), counted(threads, "thread"),
                                   error.code().message()));
    }
    pinned_ = static_cast<int>(std::ranges::count(members_, true, &Member::is_pinned));
}

ThreadTeam::~ThreadTeam() {
    end();
}

// Returns when each knows whether it is pinned.
void ThreadTeam::start(const std::vector<int>& cpus) {
    const auto before = kept_affinity().lock(); // also of another team
    members_.front().is_pinned = !cpus.empty() && pin_thread(cpus.front());
    for (std::size_t i = 1; i < members_.size(); ++i) {
        Member& member = members_[i];
        member.state.store(State::starting, std::memory_order_relaxed);
        try {
            member.thread = std::thread(
                [this, i, cpu = cpus.empty() ? -1 : cpus[i], kept = before.get()] { this->work(i, cpu, kept); });
        } catch (const std::system_error&) {
            member.state.store(State::resting, std::memory_order_relaxed); // there is none
            throw;
        }
    }
    for (const Member& member : members_) member.state.wait(State::starting, std::memory_order_acquire);
}

void ThreadTeam::arm(const Deadline& deadline) {
    deadline_ = deadline;
    yields_.store(deadline.yields(), std::memory_order_relaxed);
    has_failed_.store(false, std::memory_order_relaxed);
    is_failing_.clear(std::memory_order_relaxed);
    failure_ = nullptr;
    phase_.store(Phase::armed, std::memory_order_release);
    phase_.notify_all();
    deadline_.reset();
    while (!all_are(State::awake))
        if (!deadline_.idle()) throw held_up();
}

void ThreadTeam::run() {
    phase_.store(Phase::running, std::memory_order_release);
    if (share(0)) await_shares();
    phase_.store(Phase::resting, std::memory_order_release);
    await_rest();
    if (has_failed_.load(std::memory_order_relaxed)) std::rethrow_exception(failure_);
}

// Of any thread. What it throws is kept: then false.
bool ThreadTeam::share(std::size_t thread) {
    members_[thread].idles = 0;
    try {
        work_.drive(thread);
        return true;
    } catch (...) {
        keep_failure();
        return false;
    }
}

// Of what is being caught, by any thread: what comes second may follow from the first.
void ThreadTeam::keep_failure() noexcept {
    if (is_failing_.test_and_set(std::memory_order_relaxed)) return;
    failure_ = std::current_exception();
    has_failed_.store(true, std::memory_order_release);
}

// What is done goes on for peers meanwhile. A thread whose deadline is over says so itself; who does not even come
// back for that is held up.
void ThreadTeam::await_shares() {
    Member& mine = members_.front();
    deadline_.reset();
    try {
        while (!all_are(State::done)) {
            work_.keep(0);
            if (++mine.idles % kIdlesPerLook == 0 && see_others(0)) deadline_.hold();
            if (deadline_.idle() || deadline_.waited() < 2 * deadline_.timeout()) continue;
            is_held_up_ = true;
            throw held_up();
        }
    } catch (...) {
        keep_failure();
    }
}

// Nobody but the caller's thread does anything then, once each has seen it: at its next step.
void ThreadTeam::await_rest() {
    deadline_.reset();
    while (!all_are(State::resting)) {
        if (!is_held_up_ && deadline_.idle()) continue;
        is_held_up_ = true;
        throw_held_up();
    }
}

// before: where the caller ran that made the thread, until the state says that it is there; may be null.
void ThreadTeam::work(std::size_t thread, int cpu, const KeptAffinity* before) {
    Member& me = members_[thread];
    me.is_pinned = cpu >= 0 && pin_thread(cpu);
    if (!me.is_pinned && before != nullptr) before->give_to_this_thread(); // it began on the caller's CPU
    me.state.store(State::resting, std::memory_order_release);
    me.state.notify_one();
    while (await_phase(Phase::resting) != Phase::over) {
        me.state.store(State::awake, std::memory_order_release);
        Phase phase = Phase::armed;
        while ((phase = phase_.load(std::memory_order_acquire)) == Phase::armed)
            if (yields_.load(std::memory_order_relaxed)) sched_yield();
        if (phase == Phase::running) {
            share(thread);
            me.state.store(State::done, std::memory_order_release);
            try {
                while (phase_.load(std::memory_order_acquire) == Phase::running) {
                    if (!has_failed_.load(std::memory_order_relaxed)) work_.keep(thread);
                    if (yields_.load(std::memory_order_relaxed)) sched_yield();
                }
            } catch (...) {
                keep_failure();
            }
        }
        me.state.store(State::resting, std::memory_order_release);
    }
}

// The one that follows.
ThreadTeam::Phase ThreadTeam::await_phase(Phase last) const {
    const Nanoseconds begin = now_ns();
    Phase phase = last;
    while ((phase = phase_.load(std::memory_order_acquire)) == last && now_ns() - begin < kAwake) sched_yield();
    while (phase == last) {
        phase_.wait(last, std::memory_order_acquire);
        phase = phase_.load(std::memory_order_acquire);
    }
    return phase;
}

// True when something has happened to them since it last looked.
bool ThreadTeam::see_others(std::size_t thread) {
    Member& me = members_[thread];
    me.idles = 0;
    std::uint64_t events = 0;
    for (const Member& member : members_)
        if (&member != &me) events += member.events.load(std::memory_order_relaxed);
    return std::exchange(me.events_of_others, events) != events;
}

bool ThreadTeam::all_are(State state) const {
    return std::ranges::all_of(std::span(members_).subspan(1), [state](const Member& member) {
        return member.state.load(std::memory_order_acquire) == state;
    });
}

// A signal that has waited for too long ends the process from here: nothing can be thrown.
void ThreadTeam::end() noexcept {
    phase_.store(Phase::over, std::memory_order_release);
    phase_.notify_all();
    const Nanoseconds begin = now_ns();
    while (!all_are(State::resting)) {
        if (StopSignal::is_overdue()) job_.leave(StopSignal::number());
        if (is_held_up_ || now_ns() - begin >= deadline_.timeout()) {
            try {
                throw_held_up();
            } catch (const std::exception& error) {
                job_.give_up(error);
            }
            break;
        }
        sched_yield();
    }
    for (Member& member : members_)
        if (member.thread.joinable()) member.thread.join();
}

RunError ThreadTeam::held_up() const {
    return RunError(fmt::format("{} waits for a thread of its own, which has not come back for {}",
                                job_.who(job_.rank()), format_duration(deadline_.timeout())),
                    EndReason::fabric_deadline);
}

// What failed before says more.
void ThreadTeam::throw_held_up() const {
    if (has_failed_.load(std::memory_order_acquire)) std::rethrow_exception(failure_);
    throw held_up();
}

} // namespace a2aperf
