// SPDX-License-Identifier: BSD-3-Clause
// Round trips whose requests are due at a rate.
#include <algorithm>
#include <numeric>

#include "a2aperf/measure/echo_engine.hpp"
#include "a2aperf/stats/round_trips.hpp"
#include "a2aperf/transfer/msg.hpp"
#include "a2aperf/transfer/tagged.hpp"
#include "test/mpi/rig.hpp"

using namespace a2aperf;
using test::job;
using test::kMessage;
using test::Rig;

namespace {

constexpr Duration kLong{.length = 3'600'000'000'000, .tick = 100'000'000, .ends_by_number = true};
constexpr std::int64_t kTrips = 60;

// As EchoEngine::totals() has them.
struct Totals {
    std::int64_t trips, time, idle, open, span, shortest, longest, places, due, due_time, behind, waited;
};
Totals totals_of(std::span<const std::int64_t> t) {
    REQUIRE(t.size() >= 12);
    return {t[0], t[1], t[2], t[3], t[4], t[5], t[6], t[7], t[8], t[9], t[10], t[11]};
}

// Every rank asks the next one, each pair at the rate.
EchoSettings ring(Arrivals arrivals, std::int64_t rate) {
    EchoSettings settings{.servers = {(job().rank() + 1) % job().ranks()},
                          .clients = {(job().rank() + job().ranks() - 1) % job().ranks()},
                          .request_size = 30};
    settings.due = {{.arrivals = arrivals, .rate = rate, .pair = job().rank(), .pairs = job().ranks()}};
    settings.longest_gap = longest_gap(settings.due.front());
    return settings;
}

// The first rank asks all others.
EchoSettings one_to_many(std::int64_t rate) {
    EchoSettings settings{.request_size = 30};
    if (job().rank() != 0) {
        settings.clients = {0};
    } else {
        for (Rank rank = 1; rank < job().ranks(); ++rank) {
            settings.servers.push_back(rank);
            settings.due.push_back({.rate = rate, .pair = rank - 1, .pairs = job().ranks() - 1});
        }
    }
    settings.longest_gap = longest_gap({.rate = rate});
    return settings;
}

// When they are due, of all its servers, ascending.
std::vector<Nanoseconds> due_times(const EchoSettings& settings, std::int64_t most) {
    std::vector<Nanoseconds> times;
    for (const DueRule& rule : settings.due) {
        DueTimes due(rule);
        for (std::int64_t k = 0; k < most; ++k, due.pop()) times.push_back(due.next());
    }
    std::ranges::sort(times);
    return times;
}

// For how long so many of them come at their rate.
Nanoseconds length_of(const DueRule& rule, std::int64_t count) {
    DueTimes due(rule);
    for (std::int64_t k = 0; k < count; ++k) due.pop();
    return due.passed();
}

struct Loops {
    explicit Loops(const char* mode) : rig({mode}, 64) {}

    template <class Mode>
    Totals run(EchoSettings settings, const Duration& duration, std::size_t most_samples) {
        settings.op = rig.loop.next_op();
        for (int op = 1; op < echo_ops(settings.outstanding); ++op) (void)rig.loop.next_op();
        EchoEngine<Mode, WhenDue> echo(job(), rig.channel, 30, settings);
        echo.reserve(most_samples);
        TickSamples samples(echo.kCounters);
        const Nanoseconds start = durations.run(echo, duration, samples);
        CHECK(durations.stop_signal() == 0);
        CHECK(echo.sweep()); // nothing is left
        const Totals totals = totals_of(echo.totals());
        check(echo.kept(), totals, settings, start);
        return totals;
    }

    void check(const KeptSamples& kept, const Totals& totals, const EchoSettings& settings, Nanoseconds start) {
        REQUIRE(kept.values.size() >= 3);
        const auto times = kept.values[0];
        const auto waits = kept.values[1];
        const auto held_up = kept.values[2];
        REQUIRE(kept.moments.size() == times.size());
        REQUIRE(waits.size() == times.size());
        REQUIRE(held_up.size() == times.size());
        CHECK(std::ssize(times) + kept.lost == totals.trips);
        CHECK(totals.trips <= totals.due);
        CHECK(totals.places == settings.outstanding * std::ssize(settings.servers));
        for (std::size_t i = 0; i < times.size(); ++i) {
            CHECK(waits[i] >= 0); // never before its moment
            CHECK(times[i] > waits[i]);
        }
        if (kept.lost > 0 || times.empty()) return;
        CHECK(std::accumulate(waits.begin(), waits.end(), std::int64_t{0}) == totals.waited);
        CHECK(keeps_littles_law({totals.places, totals.trips, totals.time, totals.idle, totals.open,
                                 totals.shortest, totals.longest, totals.span, totals.waited}));
        if (settings.most < 0) return;
        std::vector<Nanoseconds> moments;
        for (const Nanoseconds moment : kept.moments) moments.push_back(durations.since(start, moment));
        std::ranges::sort(moments);
        CHECK(moments == due_times(settings, settings.most));
    }

    Rig rig;
    DurationLoop durations{job(), rig.clock, rig.deadline};
};

} // namespace

TEST_CASE("a number of messages is due when the rule says so, and each has its answer") {
    Loops tagged("tagged");
    Loops msg("msg");
    for (const Arrivals arrivals : {Arrivals::even, Arrivals::poisson})
        for (const int outstanding : {1, 6}) {
            CAPTURE(outstanding);
            EchoSettings settings = ring(arrivals, 5000);
            settings.outstanding = outstanding;
            settings.most = kTrips;
            for (const Totals& totals :
                 {tagged.run<Tagged>(settings, kLong, 1000), msg.run<Msg>(settings, kLong, 1000)}) {
                CHECK(totals.trips == kTrips);
                CHECK(totals.due == kTrips);
                CHECK(totals.behind >= 1);
                CHECK(totals.due_time == length_of(settings.due.front(), kTrips));
            }
        }
}

TEST_CASE("a client's servers have a rate each") {
    Loops loops("tagged");
    EchoSettings settings = one_to_many(2000);
    settings.outstanding = 3;
    settings.most = kTrips;
    const Totals totals = loops.run<Tagged>(settings, kLong, 1000);
    CHECK(totals.trips == kTrips * std::ssize(settings.servers));
    CHECK(totals.due == totals.trips);
}

TEST_CASE("those that are not kept are counted") {
    Loops loops("msg");
    EchoSettings settings = ring(Arrivals::even, 5000);
    settings.most = kTrips;
    CHECK(loops.run<Msg>(settings, kLong, 7).trips == kTrips);
}

TEST_CASE("a rate that nothing keeps ends with the duration, and all that were due are told") {
    Loops loops("tagged");
    EchoSettings settings = ring(Arrivals::even, 1'000'000'000);
    const Totals totals = loops.run<Tagged>(settings, {.length = 30'000'000, .tick = 10'000'000}, 100);
    CHECK(totals.due_time == 30'000'000);
    CHECK(totals.due == 30'000'000);
    CHECK(totals.trips < totals.due);
    CHECK(totals.behind > 1);
}
