// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/result/start_times.hpp"

#include <numeric>
#include <set>

#include <doctest/doctest.h>

using namespace a2aperf;

namespace {

Nanoseconds of(const StartTimes& times, StartPhase phase) {
    return times.times().at(static_cast<std::size_t>(phase));
}

Nanoseconds sum(const StartTimes& times) {
    return std::accumulate(times.times().begin(), times.times().end(), Nanoseconds{0});
}

} // namespace

TEST_CASE("phases follow one another without a gap, and one may come again") {
    StartTimes times(1000);
    times.end(StartPhase::mpi_init, 1700);
    times.end(StartPhase::ranks, 1710);
    times.end(StartPhase::mpi_init, 1800);
    CHECK(of(times, StartPhase::mpi_init) == 790);
    CHECK(of(times, StartPhase::ranks) == 10);
    CHECK(sum(times) == 800);
}

TEST_CASE("a part of a phase may be another's") {
    StartTimes times(0);
    times.end(StartPhase::connect, 500);
    times.move(120, StartPhase::connect, StartPhase::payload);
    CHECK(of(times, StartPhase::connect) == 380);
    CHECK(of(times, StartPhase::payload) == 120);
}

TEST_CASE("what a channel timed is taken over, and the next phase begins where it ended") {
    StartTimes times(0);
    StartTimes first(10);
    times.end(StartPhase::counters, first.begin());
    first.end(StartPhase::endpoint, 30);
    first.end(StartPhase::addresses, 60);
    StartTimes second(60);
    second.end(StartPhase::endpoint, 100);
    times.add(first);
    times.add(second);
    times.end(StartPhase::clock, 107);
    CHECK(of(times, StartPhase::counters) == 10);
    CHECK(of(times, StartPhase::endpoint) == 60);
    CHECK(of(times, StartPhase::addresses) == 30);
    CHECK(of(times, StartPhase::clock) == 7);
    CHECK(sum(times) == 107);
}

TEST_CASE("every phase has a name of its own and says what is done in it") {
    std::set<std::string_view> names;
    for (const StartPhaseRow& row : kStartPhases) {
        CHECK(names.insert(row.name).second);
        CHECK_FALSE(row.meaning.empty());
    }
    CHECK(kStartPhases[static_cast<std::size_t>(StartPhase::before_mpi)].name == "before_mpi");
    CHECK(kStartPhases[static_cast<std::size_t>(StartPhase::facts)].name == "facts");
}
