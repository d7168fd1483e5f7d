// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/job/process_status.hpp"

#include <unistd.h>

#include <doctest/doctest.h>

#include "support/child.hpp"

using namespace a2aperf;

TEST_CASE("this process lives, and started once") {
    const ProcessStatus status = process_status(getpid());
    CHECK_FALSE(status.has_ended());
    CHECK_FALSE(status.started.empty());
    CHECK(status.started.find_first_not_of("0123456789") == std::string::npos);
    CHECK(process_status(getpid()).started == status.started);
}

TEST_CASE("a process has ended before it is reaped, and keeps its start; afterwards nothing is known") {
    test::Child child;
    const pid_t id = child.id();
    const std::string started = process_status(id).started;
    CHECK_FALSE(process_status(id).has_ended());
    child.kill();
    CHECK(process_status(id).has_ended());
    CHECK(process_status(id).started == started);
    child.end();
    CHECK(process_status(id).has_ended());
    CHECK(process_status(id).started.empty());
}
