// SPDX-License-Identifier: BSD-3-Clause
#include "measure/thread_team.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "a2aperf/fabric/locality.hpp"
#include "test/mpi/given_up.hpp"
#include "test/mpi/mpi_test.hpp"

using namespace a2aperf;
using test::GivenUp;
using test::job;

namespace {

constexpr std::size_t kThreads = 3;
const Deadline kUsual(Polling::yield, 600'000'000'000);
const Deadline kSoon(Polling::yield, 50'000'000);
const Deadline kLater(Polling::yield, 500'000'000); // in which a thread awakes beside other work

void keep_nothing(std::size_t /*thread*/) {}

// Where the calling thread may run.
std::vector<int> cpus_here() {
    cpu_set_t set;
    REQUIRE(sched_getaffinity(0, sizeof set, &set) == 0);
    std::vector<int> cpus;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
        if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
    return cpus;
}

} // namespace

TEST_CASE("each thread does its share of every op, and goes on for peers until the last is through") {
    std::array<std::atomic<int>, kThreads> shares{}, kept{};
    std::atomic<int> over{0};
    const auto drive = [&](std::size_t thread) {
        const int op = ++shares[thread];
        // The last one ends when both others are done and at work for their peers.
        if (thread == static_cast<std::size_t>(op) % kThreads) {
            const auto before = std::array{kept[0].load(), kept[1].load(), kept[2].load()};
            for (std::size_t other = 0; other < kThreads; ++other)
                while (other != thread && kept[other] == before[other]) sched_yield();
        }
        ++over;
    };
    ThreadTeam team(job(), kThreads, {}, kUsual, {drive, [&](std::size_t thread) { ++kept[thread]; }});
    CHECK(team.pinned() == 0);
    for (int op = 1; op <= 300; ++op) {
        team.arm(kUsual);
        CHECK(over == static_cast<int>(kThreads) * (op - 1)); // nobody begins before the start
        team.run();
        CHECK(over == static_cast<int>(kThreads) * op);
        const auto at_rest = std::array{kept[0].load(), kept[1].load(), kept[2].load()};
        sched_yield();
        CHECK(at_rest == std::array{kept[0].load(), kept[1].load(), kept[2].load()});
    }
}

TEST_CASE("a thread that slept between two ops is awake for the next") {
    std::atomic<int> shares{0};
    ThreadTeam team(job(), kThreads, {}, kUsual, {[&](std::size_t) { ++shares; }, keep_nothing});
    for (int op = 1; op <= 3; ++op) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5)); // a hundred times as long as it stays awake
        team.arm(kUsual);
        team.run();
        CHECK(shares == static_cast<int>(kThreads) * op);
    }
}

TEST_CASE("what a thread throws ends the shares of the others, and is thrown by the op") {
    for (std::size_t failing = 0; failing < kThreads; ++failing) {
        std::unique_ptr<ThreadTeam> team;
        std::atomic<int> begun{0}, left{0};
        const auto drive = [&](std::size_t thread) {
            ++begun;
            while (thread == failing && begun < static_cast<int>(kThreads)) sched_yield();
            if (thread == failing) throw std::runtime_error("rank 7 is gone");
            Deadline deadline = kUsual;
            while (team->goes_on(thread, deadline, [] { throw std::runtime_error("too late"); })) continue;
            ++left;
        };
        team = std::make_unique<ThreadTeam>(job(), kThreads, std::vector<int>{}, kUsual,
                                            TeamWork{drive, keep_nothing});
        team->arm(kUsual);
        CHECK_THROWS_WITH(team->run(), "rank 7 is gone");
        CHECK(left == static_cast<int>(kThreads) - 1);
    }
}

TEST_CASE("what a thread throws ends the shares of those to whom something still happens") {
    std::unique_ptr<ThreadTeam> team;
    std::atomic<int> begun{0}, left{0};
    const auto drive = [&](std::size_t thread) {
        ++begun;
        while (thread == 0 && begun < static_cast<int>(kThreads)) sched_yield();
        if (thread == 0) throw std::runtime_error("rank 7 is gone");
        while (team->note(thread)) sched_yield();
        ++left;
    };
    team = std::make_unique<ThreadTeam>(job(), kThreads, std::vector<int>{}, kUsual, TeamWork{drive, keep_nothing});
    team->arm(kUsual);
    CHECK_THROWS_WITH(team->run(), "rank 7 is gone");
    CHECK(left == static_cast<int>(kThreads) - 1);
}

TEST_CASE("what a thread throws is thrown, and given up with, where another one does not come back") {
    for (std::size_t failing = 0; failing < kThreads; failing += 2) {
        GivenUp given_up;
        std::atomic<int> begun{0};
        const auto drive = [&](std::size_t thread) {
            ++begun;
            while (thread == failing && begun < static_cast<int>(kThreads)) sched_yield();
            if (thread == failing) throw std::runtime_error("rank 7 is gone");
            if (thread == 1) given_up.stay_away();
        };
        {
            ThreadTeam team(job(), kThreads, {}, kLater, {drive, keep_nothing});
            team.arm(kLater);
            CHECK_THROWS_WITH(team.run(), "rank 7 is gone");
        }
        CHECK(given_up.said() == std::vector<std::string>{"rank 7 is gone"});
    }
}

TEST_CASE("what fails after a thread's share, for a peer, is thrown by the op") {
    std::atomic<bool> has_failed{false};
    const auto drive = [&](std::size_t thread) {
        while (thread == 0 && !has_failed) sched_yield();
    };
    const auto keep = [&](std::size_t thread) {
        if (thread != 1) return;
        has_failed = true;
        throw std::runtime_error("rank 7 is gone");
    };
    ThreadTeam team(job(), kThreads, {}, kUsual, {drive, keep});
    team.arm(kUsual);
    CHECK_THROWS_WITH(team.run(), "rank 7 is gone");
}

// Whoever does not get its core for so long makes nothing happen, either.
TEST_CASE("nothing has happened to a thread only where nothing happened to any of them") {
    std::unique_ptr<ThreadTeam> team;
    std::atomic<bool> is_over{false}, is_early{false};
    Nanoseconds longest = 0; // of the pauses between events
    const auto drive = [&](std::size_t thread) {
        if (thread == 0) { // for ten deadlines
            const Nanoseconds begin = now_ns();
            for (Nanoseconds last = begin; last - begin < 10 * kSoon.timeout();) {
                (void)team->note(0);
                sched_yield();
                const Nanoseconds now = now_ns();
                longest = std::max(longest, now - std::exchange(last, now));
            }
            is_over = true;
            return;
        }
        Deadline deadline = kSoon;
        deadline.reset();
        bool is_late = false;
        while (!is_late && team->goes_on(thread, deadline, [&] { is_late = true; })) continue;
        if (!is_over) is_early = true;
    };
    team = std::make_unique<ThreadTeam>(job(), kThreads, std::vector<int>{}, kUsual, TeamWork{drive, keep_nothing});
    team->arm(kUsual);
    team->run();
    CHECK(is_over);
    CHECK((!is_early || longest >= kSoon.timeout()));
}

TEST_CASE("threads run on the CPUs that they are given, and the caller's again where it did") {
    const std::vector<int> before = cpus_here();
    const std::vector<int> cpus{before.back(), before.front(), before.back()};
    {
        std::array<std::vector<int>, kThreads> found;
        auto team = std::make_unique<ThreadTeam>(
            job(), kThreads, cpus, kUsual,
            TeamWork{[&](std::size_t thread) { found[thread] = cpus_here(); }, keep_nothing});
        auto second =
            std::make_unique<ThreadTeam>(job(), kThreads, cpus, kUsual, TeamWork{keep_nothing, keep_nothing});
        CHECK(team->pinned() == static_cast<int>(kThreads));
        team->arm(kUsual);
        team->run();
        for (std::size_t thread = 0; thread < kThreads; ++thread) CHECK(found[thread] == std::vector{cpus[thread]});
        team.reset();
        CHECK(cpus_here() == std::vector{cpus[0]}); // until the last is gone, which is not the first
    }
    CHECK(cpus_here() == before);
}

TEST_CASE("threads that are given no CPU run where the caller ran before a team pinned it") {
    const std::vector<int> before = cpus_here();
    const int first = before.front(), last = before.back();
    std::array<std::vector<int>, kThreads> found;
    const TeamWork look{[&](std::size_t thread) { found[thread] = cpus_here(); }, keep_nothing};
    {
        ThreadTeam pinned(job(), kThreads, {first, last, first}, kUsual, {keep_nothing, keep_nothing});
        ThreadTeam team(job(), kThreads, {}, kUsual, look);
        CHECK(team.pinned() == 0);
        team.arm(kUsual);
        team.run();
        for (std::size_t thread = 1; thread < kThreads; ++thread) CHECK(found[thread] == before);
    }
    ThreadTeam team(job(), kThreads, {first, CPU_SETSIZE, last}, kUsual,
                    look); // the second does not exist
    CHECK(team.pinned() == static_cast<int>(kThreads) - 1);
    team.arm(kUsual);
    team.run();
    CHECK(found == std::array<std::vector<int>, kThreads>{{{first}, before, {last}}});
}

TEST_CASE("where a thread does not come back, its rank says that it waits for it, and gives up") {
    GivenUp given_up;
    const auto drive = [&](std::size_t thread) {
        if (thread == 1) given_up.stay_away();
    };
    {
        ThreadTeam team(job(), kThreads, {}, kSoon, {drive, keep_nothing});
        team.arm(kSoon);
        CHECK_THROWS_AS(team.run(), RunError);
    }
    REQUIRE(given_up.said().size() == 1);
    CHECK(given_up.said()[0] ==
          job().who(job().rank()) + " waits for a thread of its own, which has not come back for 50 ms");
}

TEST_CASE("who is never asked for an op, or asked and not started, leaves no thread behind") {
    std::atomic<int> shares{0};
    for (const bool is_armed : {false, true}) {
        ThreadTeam team(job(), kThreads, {}, kUsual, {[&](std::size_t) { ++shares; }, keep_nothing});
        if (is_armed) team.arm(kUsual);
    }
    CHECK(shares == 0);
}
