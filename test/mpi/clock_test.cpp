// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/measure/clock_sync.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <set>
#include <string>
#include <thread>

#include "test/mpi/mpi_test.hpp"

using namespace a2aperf;
using test::job;

namespace {

constexpr Nanoseconds kSecond = 1'000'000'000;

// Seconds that each rank's CLOCK_MONOTONIC is ahead of the machine's, by in_time_namespaces.sh; all 0 without.
std::vector<Nanoseconds> known_offsets() {
    const char* mine = std::getenv("A2APERF_TEST_CLOCK_OFFSET");
    return job().all_gather(mine == nullptr ? Nanoseconds{0} : Nanoseconds{std::atol(mine)} * kSecond);
}

// A clock of this rank made from the machine's: years away and tens of ppm off, other for every rank.
struct MadeUpClock {
    Nanoseconds zero; // the machine's time at which it shows `offset`
    Nanoseconds offset;
    double rate;

    static MadeUpClock of(Rank rank, Nanoseconds zero) {
        return {zero, (rank % 2 == 0 ? 1 : -1) * rank * Nanoseconds{31'000'000} * kSecond,
                (rank % 3 - 1) * 40e-6 + rank * 1e-6};
    }
    Nanoseconds at(Nanoseconds machine) const {
        return machine + offset + std::llrint(rate * static_cast<double>(machine - zero));
    }
};

// A bound holds whatever the lines are. Its size depends on the machine's load (the benchmark prints it): a rank
// that loses its core widens it by scheduler slices. A wrong line misses by the seconds and years of the made-up
// offsets.
void check_is_of_use(const ClockAgreement& agreement) {
    constexpr double kManySlices = 200e6;
    CHECK(agreement.error_ns <= kManySlices);
}

} // namespace

TEST_CASE("ranks on really different clocks find the known offsets within the bound") {
    const auto known = known_offsets();
    const auto expected_common = [&](Nanoseconds local) {
        return local + known[0] - known[static_cast<std::size_t>(job().rank())];
    };
    ClockAgreement agreement = agree_on_clock(job());
    REQUIRE(agreement.domain_of_rank.size() == known.size());

    // A rank that is ahead has a namespace of its own; the others are on the machine's clock.
    const std::set<int> domains(agreement.domain_of_rank.begin(), agreement.domain_of_rank.end());
    std::size_t own = 0;
    for (const Nanoseconds offset : known) own += offset != 0 ? 1U : 0U;
    CHECK(domains.size() == own + (own < known.size() ? 1 : 0));
    for (std::size_t rank = 0; rank < known.size(); ++rank)
        for (std::size_t other = 0; other < rank; ++other)
            CHECK((agreement.domain_of_rank[rank] == agreement.domain_of_rank[other]) ==
                  (known[rank] == 0 && known[other] == 0));

    if (domains.size() == 1) {
        CHECK(agreement.error_ns == 0);
        CHECK(agreement.mine.offset == 0);
        CHECK(agreement.mine.drift == 0);
    } else {
        CHECK(agreement.error_ns > 0);
    }
    if (job().is_root()) {
        REQUIRE(agreement.offset.size() == known.size());
        REQUIRE(agreement.drift.size() == known.size());
        for (std::size_t rank = 0; rank < known.size(); ++rank)
            CHECK(std::abs(agreement.offset[rank] - static_cast<double>(known[0] - known[rank])) <=
                  agreement.error_ns);
    }

    // The bound was found at both ends of the time in which a line is used, so it holds between them.
    for (int turn = 0; turn < 5; ++turn) {
        const Nanoseconds local = now_ns();
        const Nanoseconds error = agreement.mine.since(expected_common(local), local);
        resynchronise(job(), agreement);
        CHECK(std::abs(static_cast<double>(error)) <= agreement.error_ns);
        CHECK(job().max(std::llrint(agreement.error_ns)) == std::llrint(agreement.error_ns));
    }
    check_is_of_use(agreement);
    if (job().is_root()) MESSAGE("error bound ", agreement.error_ns, " ns with ", domains.size(), " clocks");
}

TEST_CASE("ranks on clocks that also drift agree within the bound, again and again") {
    const auto known = known_offsets();
    const Nanoseconds ahead = known[static_cast<std::size_t>(job().rank())];
    const auto machine = [ahead] { return now_ns() - ahead; };
    Nanoseconds zero = machine();
    job().broadcast(zero);
    const MadeUpClock made_up = MadeUpClock::of(job().rank(), zero);
    const LocalClock clock{"rank " + std::to_string(job().rank()), [&] { return made_up.at(machine()); }};
    const MadeUpClock of_root = MadeUpClock::of(0, zero);

    ClockAgreement agreement = agree_on_clock(job(), clock);
    for (Rank rank = 0; rank < job().ranks(); ++rank)
        CHECK(agreement.domain_of_rank[static_cast<std::size_t>(rank)] == rank);
    for (int turn = 0; turn < 8; ++turn) {
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        const Nanoseconds now = machine();
        const Nanoseconds error = agreement.mine.since(of_root.at(now), made_up.at(now));
        resynchronise(job(), agreement, clock);
        CHECK(std::abs(static_cast<double>(error)) <= agreement.error_ns);
    }
    check_is_of_use(agreement);
    // Between the first and the last point a second went by, in which the clocks parted by tens of microseconds.
    const double true_drift = (1 + of_root.rate) / (1 + made_up.rate) - 1;
    CHECK(std::abs(agreement.mine.drift - true_drift) <= 4 * agreement.error_ns / 0.8e9 + 5e-6);
}
