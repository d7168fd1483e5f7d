// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/job/watchdog.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>

#include <doctest/doctest.h>

using namespace a2aperf;

namespace {

constexpr Nanoseconds kHour = 3'600'000'000'000;

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

TEST_CASE("a call that never ends is ended, with what it is told to do before") {
    const Outcome outcome = in_child([] {
        const Watchdog watchdog(50'000'000, 0, [](int signal_number) {
            const std::string_view words = signal_number == 0 ? "too long" : "stopped";
            return write(STDERR_FILENO, words.data(), words.size()) < 0 ? 9 : 5;
        });
        watchdog.arm();
        Watchdog::enter();
        for (;;) pause();
    });
    REQUIRE(WIFEXITED(outcome.status));
    CHECK(WEXITSTATUS(outcome.status) == 5);
    CHECK(outcome.said == "too long");
}

TEST_CASE("a call during which a signal to stop comes is ended, and so is one that begins after it") {
    for (const bool is_in_call : {true, false}) {
        const Outcome outcome = in_child([is_in_call] {
            const Watchdog watchdog(kHour, 10'000'000, [](int signal_number) { return 100 + signal_number; });
            watchdog.arm();
            if (is_in_call) Watchdog::enter();
            Watchdog::hasten(SIGTERM);
            if (!is_in_call) Watchdog::enter();
            for (;;) pause();
        });
        REQUIRE(WIFEXITED(outcome.status));
        CHECK(WEXITSTATUS(outcome.status) == 100 + SIGTERM);
    }
}

// The deadline passes again and again, each time outside of the call.
TEST_CASE("outside of the call nothing is ended, by deadline or signal") {
    const Outcome outcome = in_child([] {
        const Watchdog watchdog(1'000'000, 1'000'000, [](int) { return 9; });
        Watchdog::enter();
        Watchdog::leave();
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        Watchdog::hasten(SIGTERM);
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    });
    REQUIRE(WIFEXITED(outcome.status));
    CHECK(WEXITSTATUS(outcome.status) == 7);
}

TEST_CASE("a call that ends while the process is being ended is held") {
    const Outcome outcome = in_child([] {
        std::atomic<bool> is_leaving{false};
        const Watchdog watchdog(1'000'000, 0, [&](int) {
            is_leaving.store(true);
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
            return 5;
        });
        Watchdog::enter();
        while (!is_leaving.load()) std::this_thread::yield();
        Watchdog::leave();
        _exit(8);
    });
    REQUIRE(WIFEXITED(outcome.status));
    CHECK(WEXITSTATUS(outcome.status) == 5);
}

TEST_CASE("one that throws ends the process, too; and the next watchdog finds nothing of the last") {
    const Outcome outcome = in_child([] {
        {
            const Watchdog first(kHour, 0, [](int) { return 9; });
        }
        const Watchdog watchdog(1'000'000, 0, [](int) -> int { throw std::runtime_error("no space"); });
        Watchdog::enter();
        for (;;) pause();
    });
    REQUIRE(WIFEXITED(outcome.status));
    CHECK(WEXITSTATUS(outcome.status) == 1);
}
