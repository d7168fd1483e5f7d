// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/job/watchdog.hpp"

#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <string>

#include <doctest/doctest.h>

using namespace a2aperf;

namespace {

struct Outcome {
    int status; // as waitpid(2) tells it
    std::string said;
};

// In a process of its own, for it may be ended.
template <class Action>
Outcome in_child(Action&& action) {
    std::array<int, 2> pipe_ends{};
    REQUIRE(pipe(pipe_ends.data()) == 0);
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        dup2(pipe_ends[1], STDERR_FILENO);
        action();
        _exit(7);
    }
    close(pipe_ends[1]);
    Outcome outcome{};
    std::array<char, 512> text{};
    for (ssize_t got = 0; (got = read(pipe_ends[0], text.data(), text.size())) > 0;)
        outcome.said.append(text.data(), static_cast<std::size_t>(got));
    close(pipe_ends[0]);
    waitpid(child, &outcome.status, 0);
    return outcome;
}

} // namespace

TEST_CASE("a call that never ends is ended, with the message and status 1") {
    const Outcome outcome = in_child([] {
        const Watchdog watchdog(50'000'000, "rank 3 (node017): it did not end");
        watchdog.arm();
        for (;;) pause();
    });
    REQUIRE(WIFEXITED(outcome.status));
    CHECK(WEXITSTATUS(outcome.status) == 1);
    CHECK(outcome.said == "a2aperf: rank 3 (node017): it did not end\n");
}

TEST_CASE("a call during which a signal to stop comes is ended soon, with other words and the signal's status") {
    const auto end = [](bool is_in_call) {
        return in_child([is_in_call] {
            const Watchdog watchdog(3'600'000'000'000, "it did not end", "stopped");
            watchdog.arm();
            if (is_in_call) watchdog.enter();
            Watchdog::hasten(SIGTERM);
            if (!is_in_call) {
                itimerval left{};
                getitimer(ITIMER_REAL, &left);
                _exit(left.it_value.tv_sec > 3000 ? 7 : 8);
            }
            for (;;) pause();
        });
    };
    const Outcome stopped = end(true);
    REQUIRE(WIFEXITED(stopped.status));
    CHECK(WEXITSTATUS(stopped.status) == 128 + SIGTERM);
    CHECK(stopped.said == "a2aperf: stopped\n");
    CHECK(WEXITSTATUS(end(false).status) == 7);
}

TEST_CASE("a call that ended in time is left alone") {
    const Outcome outcome = in_child([] {
        const Watchdog watchdog(3'600'000'000'000, "never said");
        itimerval left{};
        watchdog.arm();
        getitimer(ITIMER_REAL, &left);
        if (left.it_value.tv_sec < 3000) _exit(8);
        watchdog.disarm();
        getitimer(ITIMER_REAL, &left);
        if (left.it_value.tv_sec != 0 || left.it_value.tv_usec != 0) _exit(9);
    });
    REQUIRE(WIFEXITED(outcome.status));
    CHECK(WEXITSTATUS(outcome.status) == 7);
    CHECK(outcome.said.empty());
}
