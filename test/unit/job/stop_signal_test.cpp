// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/job/stop_signal.hpp"

#include <chrono>
#include <csignal>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

#include <doctest/doctest.h>

using namespace a2aperf;

namespace {

// A signal that came stays, so each case has a process of its own. The status it ended with; -1 when a signal did
// it.
template <class Story>
int status_of(Story&& story) {
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        StopSignal::install();
        _exit(story());
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

} // namespace

TEST_CASE("no signal, no number, nothing overdue") {
    CHECK(status_of([] { return StopSignal::number() == 0 && !StopSignal::is_overdue() ? 7 : 1; }) == 7);
}

TEST_CASE("SIGTERM and SIGINT are noted and do not end the process") {
    CHECK(status_of([] {
              raise(SIGTERM);
              return StopSignal::number();
          }) == SIGTERM);
    CHECK(status_of([] {
              raise(SIGINT);
              return StopSignal::number();
          }) == SIGINT);
}

TEST_CASE("the first signal counts") {
    CHECK(status_of([] {
              raise(SIGINT);
              raise(SIGTERM);
              return StopSignal::number();
          }) == SIGINT);
}

TEST_CASE("a signal is overdue only after a while, and a second one does not begin it anew") {
    CHECK(status_of([] {
              raise(SIGTERM);
              const bool at_once = StopSignal::is_overdue();
              std::this_thread::sleep_for(std::chrono::milliseconds(400));
              raise(SIGTERM);
              std::this_thread::sleep_for(std::chrono::milliseconds(200));
              return !at_once && StopSignal::is_overdue() ? 7 : 1;
          }) == 7);
}

TEST_CASE("a rank that was woken waits for the signal that comes after it") {
    const auto story = [](bool is_woken, int pause_ms) {
        const pid_t self = getpid();
        const pid_t launcher = fork();
        if (launcher == 0) {
            std::this_thread::sleep_for(std::chrono::milliseconds(pause_ms));
            kill(self, SIGTERM);
            _exit(0);
        }
        if (is_woken) raise(SIGCONT);
        int steps = 0;
        const bool has_come = StopSignal::is_coming([&] { ++steps; });
        kill(launcher, SIGKILL);
        waitpid(launcher, nullptr, 0);
        return steps > 0 && has_come ? 7 : 1;
    };
    CHECK(status_of([&] { return story(true, 1500); }) == 7);
    CHECK(status_of([&] { return story(false, 60'000); }) == 1);
}

TEST_CASE("a read under way goes on after the signal") {
    CHECK(status_of([] {
              int ends[2];
              if (pipe(ends) != 0) return 1;
              const pid_t writer = fork();
              if (writer == 0) {
                  kill(getppid(), SIGTERM);
                  _exit(write(ends[1], "x", 1) == 1 ? 0 : 1);
              }
              char byte = 0;
              const ssize_t got = read(ends[0], &byte, 1);
              waitpid(writer, nullptr, 0);
              return got == 1 && StopSignal::number() == SIGTERM ? 7 : 1;
          }) == 7);
}
