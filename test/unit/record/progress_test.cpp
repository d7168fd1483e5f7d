// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/record/progress.hpp"

#include <chrono>
#include <string>
#include <thread>

#include <doctest/doctest.h>

#include "a2aperf/base/clock.hpp"
#include "support/written.hpp"

using namespace a2aperf;

namespace {

void wait_for_terminal() {
    std::this_thread::sleep_for(std::chrono::milliseconds(210));
}

TimeLeft two_points() {
    return TimeLeft({{1000, 100}, {4096, 100}});
}

} // namespace

TEST_CASE("quiet is quiet") {
    CHECK(Progress::detect(true) == Progress::Style::none);
    CHECK(test::stderr_of([] {
              Progress progress(Progress::Style::none, two_points());
              progress.begin_point(0, "tagged shift all 1 kB");
              wait_for_terminal();
              progress.ops(50, 100, 12.5);
              progress.note("anything");
          }).empty());
}

TEST_CASE("a file is no terminal") {
    test::stderr_of([] { CHECK(Progress::detect(false) == Progress::Style::log); });
}

TEST_CASE("a pipe or a file gets what stays, and no progress") {
    CHECK(test::stderr_of([] {
              Progress progress(Progress::Style::log, two_points());
              progress.begin_point(0, "tagged shift all 1 kB");
              wait_for_terminal();
              progress.ops(50, 100, 12.5);
              progress.end_point();
              progress.note("clock: 12 of 40 trial starts were late, so ops start at a barrier");
          }) == "clock: 12 of 40 trial starts were late, so ops start at a barrier\n");
}

TEST_CASE("a terminal has one line, redrawn and left clean, with the time that is left") {
    for (const bool is_bound : {false, true}) {
        const std::string text = test::stderr_of([&] {
            Progress progress(Progress::Style::terminal, two_points(), is_bound);
            progress.begin_point(0, "tagged shift all 1 kB");
            progress.ops(1, 100, 12.5); // too soon
            progress.end_point();
            progress.begin_point(1, "tagged shift all 4096 B");
            wait_for_terminal();
            progress.ops(50, 100, 12.5);
        });
        const std::string before = "\r\x1b[K[1/2] tagged shift all 1 kB"
                                   "\r\x1b[K[2/2] tagged shift all 4096 B"
                                   "\r\x1b[K[2/2] op 50/100, ";
        REQUIRE(text.starts_with(before));
        const std::string rest = text.substr(before.size());
        CHECK(rest.starts_with("at most ") == is_bound);
        CHECK(rest.find(" left  tagged shift all 4096 B  12.50") != std::string::npos);
        CHECK(rest.ends_with("\r\x1b[K"));
    }
}

TEST_CASE("a sentinel is told, and is none of the points") {
    const std::string text = test::stderr_of([] {
        Progress progress(Progress::Style::terminal, TimeLeft({{8, 100, false}, {8, 100}, {8, 100, false}}));
        progress.begin_point(0, "first (sentinel)");
        progress.begin_point(1, "between");
        progress.begin_point(2, "last (sentinel)");
    });
    for (const char* line : {"[0/1] first (sentinel)", "[1/1] between", "[1/1] last (sentinel)"})
        CHECK(text.find(line) != std::string::npos);
}

TEST_CASE("a line never wraps") {
    const std::string text = test::stderr_of([] {
        Progress progress(Progress::Style::terminal, TimeLeft({{8, 100}}));
        progress.begin_point(0, std::string(300, 'x'));
    });
    CHECK(text.size() < 300);
}

TEST_CASE("where all is to end at a moment, the time left is that until it, and what takes longer says so") {
    for (const Nanoseconds ahead : {Nanoseconds{90'500'000'000}, Nanoseconds{-1'000'000'000}}) {
        const std::string text = test::stderr_of([&] {
            Progress progress(Progress::Style::terminal, two_points());
            progress.end_at(now_ns() + ahead);
            progress.begin_point(0, "tagged shift all 1 kB");
            wait_for_terminal();
            progress.ops(50, 100, 12.5);
        });
        const std::string time = ahead > 0 ? format_estimate(90'000'000'000) + " left" : "past its time";
        CAPTURE(text);
        CHECK(text.find("[1/2] " + time + "  tagged shift all 1 kB") != std::string::npos);
        CHECK(text.find("op 50/100, " + time + "  tagged") != std::string::npos);
    }
}
