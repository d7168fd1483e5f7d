// SPDX-License-Identifier: BSD-3-Clause
// Against tables of Student's t, known ratios, and simulated launches in which nothing differs.
#include "a2aperf/stats/paired_ratio.hpp"

#include <cmath>
#include <numbers>
#include <vector>

#include <doctest/doctest.h>

#include "a2aperf/base/random.hpp"

using namespace a2aperf;
using doctest::Approx;

namespace {

using Blocks = std::vector<Block>;

constexpr std::size_t kOps = 10; // of a block

// Ops of a machine whose speed wanders: each block of either side follows the last one in time.
class Machine {
public:
    Machine(std::uint64_t seed, double phi) : random_(seed), phi_(phi) {}

    Block block(double median_ns) {
        Block ops;
        for (std::size_t i = 0; i < kOps; ++i) {
            state_ = phi_ * state_ + std::sqrt(1 - phi_ * phi_) * normal();
            ops.push_back(std::llround(median_ns * std::exp(0.1 * state_ + 0.02 * normal())));
        }
        return ops;
    }

private:
    double uniform() { return (static_cast<double>(random_.next() >> 11) + 0.5) / 9007199254740992.0; }
    double normal() { return std::sqrt(-2 * std::log(uniform())) * std::cos(2 * std::numbers::pi * uniform()); }

    Random random_;
    double phi_;
    double state_ = 0;
};

PairedRatio measured(Machine machine, double first_ns, double second_ns, int pairs, std::size_t family) {
    Blocks first;
    Blocks second;
    for (int pair = 0; pair < pairs; ++pair) {
        if (pair % 2 == 0) first.push_back(machine.block(first_ns));
        second.push_back(machine.block(second_ns));
        if (pair % 2 == 1) first.push_back(machine.block(first_ns));
    }
    return paired_ratio(first, second, family);
}

// Of 400 launches that search so many sizes, in how many a ratio is called at any of them.
int launches_that_call(double phi, std::size_t sizes, int pairs) {
    int calling = 0;
    for (std::uint64_t launch = 0; launch < 400; ++launch) {
        bool calls = false;
        for (std::size_t size = 0; size < sizes; ++size)
            calls |=
                measured(Machine(launch * 97 + size, phi), 1e6, 1e6, pairs, sizes).verdict() != Verdict::undecided;
        calling += calls ? 1 : 0;
    }
    return calling;
}

} // namespace

TEST_CASE("Student's t is that of the tables") {
    CHECK(student_tails(12.706, 1) == Approx(0.05).epsilon(1e-3));
    CHECK(student_tails(4.303, 2) == Approx(0.05).epsilon(1e-3));
    CHECK(student_tails(3.182, 3) == Approx(0.05).epsilon(1e-3));
    CHECK(student_tails(2.571, 5) == Approx(0.05).epsilon(1e-3));
    CHECK(student_tails(2.093, 19) == Approx(0.05).epsilon(1e-3));
    CHECK(student_tails(3.883, 19) == Approx(0.001).epsilon(2e-3));
    CHECK(student_tails(0, 7) == Approx(1));
    CHECK(student_limit(0.05, 5) == Approx(2.571).epsilon(1e-3));
    CHECK(student_limit(0.001, 19) == Approx(3.883).epsilon(1e-3));
}

TEST_CASE("a known ratio is found, and a steady drift is no part of it") {
    Blocks first;
    Blocks second;
    double drift = 1;
    for (int pair = 0; pair < 24; ++pair) {
        const bool is_turned = pair % 2 == 1;
        for (const bool is_second : {is_turned, !is_turned}) {
            drift *= 1.05;
            (is_second ? second : first).push_back(Block(kOps, std::llround((is_second ? 1e6 : 2e6) * drift)));
        }
    }
    const PairedRatio found = paired_ratio(first, second, 1);
    CHECK(found.units == 12);
    CHECK(found.ratio == Approx(2).epsilon(1e-4));
    REQUIRE(found.interval.has_value());
    CHECK(found.interval->high - found.interval->low < 1e-3);
    CHECK(found.verdict() == Verdict::faster);
    CHECK(paired_ratio(second, first, 1).verdict() == Verdict::slower);
    CHECK(paired_ratio(second, first, 1).ratio == Approx(0.5).epsilon(1e-4));
}

TEST_CASE("too few units give no interval, and no verdict") {
    const PairedRatio ten = measured(Machine(1, 0), 2e6, 1e6, 10, 1);
    CHECK(ten.units == 5);
    CHECK(ten.ratio == Approx(2).epsilon(0.2));
    CHECK_FALSE(ten.interval.has_value());
    CHECK(ten.verdict() == Verdict::undecided);
    CHECK(measured(Machine(1, 0), 2e6, 1e6, 13, 1).verdict() == Verdict::faster);
    CHECK(std::isnan(paired_ratio({}, {}, 1).ratio));
}

TEST_CASE("a block without a valid op leaves out its unit, many units are put together") {
    Blocks first(200, Block(kOps, 3000));
    const Blocks second(200, Block(kOps, 1000));
    CHECK(paired_ratio(first, second, 1).units == 11);
    first.resize(14);
    first[3].clear();
    CHECK(paired_ratio(first, second, 1).units == 6);
    CHECK(paired_ratio(first, second, 1).ratio == Approx(3));
}

TEST_CASE("the interval is wider the more comparisons are made") {
    const auto width = [](std::size_t family) {
        const auto interval = measured(Machine(5, 0), 1e6, 1e6, 40, family).interval.value();
        return std::log(interval.high / interval.low);
    };
    CHECK(width(24) > 1.5 * width(1));
}

TEST_CASE("where nothing differs at most 5 % of launches call a size faster or slower, and 5 % are found") {
    // 95 %: 380; three standard deviations of what 400 launches can tell above the level.
    constexpr int kMost = 33;
    CHECK(launches_that_call(0, 8, 40) <= kMost);
    CHECK(launches_that_call(0.5, 8, 40) <= kMost);
    CHECK(launches_that_call(0.95, 8, 40) <= kMost);
    CHECK(launches_that_call(0.95, 8, 13) <= kMost);
    int found = 0;
    for (std::uint64_t launch = 0; launch < 100; ++launch)
        found += measured(Machine(launch, 0.5), 1.05e6, 1e6, 80, 8).verdict() == Verdict::faster ? 1 : 0;
    CHECK(found >= 90);
}
