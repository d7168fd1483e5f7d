// SPDX-License-Identifier: BSD-3-Clause
#include "record/crash.hpp"

#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <unistd.h>

#include <doctest/doctest.h>

#include "a2aperf/base/error.hpp"

using namespace a2aperf;

namespace {

std::string refusal(const std::function<void()>& read, unsigned limit_s = 60) {
    try {
        require_no_crash("x.h5", read, limit_s);
    } catch (const UsageError& error) {
        return error.what();
    }
    return "";
}

} // namespace

TEST_CASE("who dies of a file is another process, and that is told in one line") {
    const std::string told = refusal([] { raise(SIGKILL); });
    CHECK(told.find("x.h5 is damaged: whoever reads it dies (Killed)") == 0);
    CHECK(told.find("'a2a check --repair x.h5 -o NEW'") != std::string::npos);
    CHECK(told.find('\n') == std::string::npos);
    CHECK(refusal([] { _exit(3); }).find("ends with status 3") != std::string::npos);
}

TEST_CASE("what is read, or refused there, is nothing to tell") {
    int here = 0;
    CHECK(refusal([&] { here = 1; }).empty());
    CHECK(here == 0);
    CHECK(refusal([] { throw std::runtime_error("damaged"); }).empty());
}

TEST_CASE("who never ends is ended, and that is told") {
    const std::string told = refusal(
        [] {
            for (;;) pause();
        },
        1);
    CHECK(told.find("x.h5 is damaged: whoever reads it has not ended after 1 s.") == 0);
}
