// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/job/process_status.hpp"

#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

#include <doctest/doctest.h>

using namespace a2aperf;

TEST_CASE("this process lives, and started once") {
    const ProcessStatus status = process_status(getpid());
    CHECK_FALSE(status.has_ended());
    CHECK_FALSE(status.started.empty());
    CHECK(status.started.find_first_not_of("0123456789") == std::string::npos);
    CHECK(process_status(getpid()).started == status.started);
}

TEST_CASE("a process has ended before it is reaped, and keeps its start; afterwards nothing is known") {
    const pid_t id = fork();
    if (id == 0)
        for (;;) pause();
    const std::string started = process_status(id).started;
    CHECK_FALSE(process_status(id).has_ended());
    kill(id, SIGKILL);
    siginfo_t info{};
    waitid(P_PID, static_cast<id_t>(id), &info, WEXITED | WNOWAIT);
    CHECK(process_status(id).has_ended());
    CHECK(process_status(id).started == started);
    waitpid(id, nullptr, 0);
    CHECK(process_status(id).has_ended());
    CHECK(process_status(id).started.empty());
}
