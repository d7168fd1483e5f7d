// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/measure/clock_fit.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <vector>

#include <doctest/doctest.h>

#include "a2aperf/base/random.hpp"
#include "a2aperf/stats/samples.hpp"

using namespace a2aperf;

namespace {

constexpr Nanoseconds kSecond = 1'000'000'000;
constexpr Nanoseconds kYear = 365 * 24 * 3600 * kSecond;

// A clock that is made up: it shows `offset` when true time is 0 and gains `rate` ns per ns.
struct MadeUpClock {
    Nanoseconds offset;
    double rate;

    Nanoseconds at(Nanoseconds true_time) const {
        return true_time + offset + std::llrint(rate * static_cast<double>(true_time));
    }
    // The line to the clock that shows true time, known exactly.
    CommonClock to_true() const { return {-offset, 1 / (1 + rate) - 1, offset}; }
};

// Uptimes from minutes to years, oscillators from -90 to 90 ppm; rank 0 shows true time.
std::vector<MadeUpClock> made_up_clocks(int ranks) {
    Random random(7);
    std::vector<MadeUpClock> clocks{{0, 0}};
    while (static_cast<int>(clocks.size()) < ranks) {
        const auto uptime = static_cast<Nanoseconds>(random.below(static_cast<std::uint64_t>(2 * kYear)));
        clocks.push_back({uptime - kYear, (static_cast<double>(random.below(181)) - 90) * 1e-6});
    }
    return clocks;
}

// 16 points of 16 ping-pongs each, 25 ms apart, ways of 1 to 9 us in each direction.
std::vector<OffsetPoint> measure(const MadeUpClock& from, const MadeUpClock& to, Nanoseconds begin,
                                 Random& random) {
    std::vector<OffsetPoint> points;
    Nanoseconds now = begin;
    for (int point = 0; point < 16; ++point, now += kSecond / 40) {
        std::vector<PingPong> taken;
        for (int i = 0; i < 16; ++i) {
            const auto there = static_cast<Nanoseconds>(1000 + random.below(8000));
            const auto back = static_cast<Nanoseconds>(1000 + random.below(8000));
            taken.push_back({from.at(now), to.at(now + there), from.at(now + there + back)});
            now += there + back;
        }
        points.push_back(best_of(taken));
    }
    return points;
}

// True moments of 50 ops over 10 s, what each rank's own clock showed of them, and the T there really was.
struct MadeUpOps {
    std::vector<Nanoseconds> start;                       // [ops]
    std::vector<Nanoseconds> begin, send_done, recv_done; // [ops * ranks], local
    std::vector<Nanoseconds> op_time;                     // [ops]
};

MadeUpOps made_up_ops(const std::vector<MadeUpClock>& clocks) {
    Random random(11);
    MadeUpOps ops;
    for (int op = 0; op < 50; ++op) {
        const Nanoseconds start = kSecond + op * kSecond / 5 + static_cast<Nanoseconds>(random.below(1000));
        Nanoseconds last = 0;
        for (const MadeUpClock& clock : clocks) {
            const auto begin = static_cast<Nanoseconds>(random.below(300));
            const auto sent = begin + static_cast<Nanoseconds>(random.below(50'000'000));
            const auto arrived = begin + static_cast<Nanoseconds>(random.below(50'000'000));
            ops.begin.push_back(clock.at(start + begin));
            ops.send_done.push_back(clock.at(start + sent));
            ops.recv_done.push_back(clock.at(start + arrived));
            last = std::max({last, sent, arrived});
        }
        ops.start.push_back(start);
        ops.op_time.push_back(last);
    }
    return ops;
}

// What the ranks would store: each moment through its rank's line.
Samples transform(const MadeUpOps& ops, const std::vector<CommonClock>& lines) {
    Samples samples{.ranks = static_cast<int>(lines.size()),
                    .begin = {},
                    .send_done = {},
                    .recv_done = {},
                    .start = ops.start,
                    .valid = std::vector<std::int64_t>(ops.start.size(), 1)};
    for (std::size_t i = 0; i < ops.begin.size(); ++i) {
        const CommonClock& line = lines[i % lines.size()];
        const Nanoseconds start = ops.start[i / lines.size()];
        samples.begin.push_back(line.since(start, ops.begin[i]));
        samples.send_done.push_back(line.since(start, ops.send_done[i]));
        samples.recv_done.push_back(line.since(start, ops.recv_done[i]));
    }
    return samples;
}

Nanoseconds largest_difference(const std::vector<Nanoseconds>& a, const std::vector<Nanoseconds>& b) {
    REQUIRE(a.size() == b.size());
    Nanoseconds largest = 0;
    for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
    return largest;
}

} // namespace

TEST_CASE("the same raw samples give the same T whatever the offsets and drifts of the ranks' clocks") {
    for (const int ranks : {2, 3, 7, 64}) {
        CAPTURE(ranks);
        const auto clocks = made_up_clocks(ranks);
        const MadeUpOps ops = made_up_ops(clocks);
        std::vector<CommonClock> lines(clocks.size());
        std::ranges::transform(clocks, lines.begin(), &MadeUpClock::to_true);
        const Samples samples = transform(ops, lines);
        CHECK(largest_difference(op_times(samples, CompleteAt::receiver), ops.op_time) <= 1);
        for (const Nanoseconds begin : samples.begin) {
            CHECK(begin >= -1);
            CHECK(begin <= 300);
        }
    }
}

TEST_CASE("ignoring the offsets or the drifts gives another T: the test above can fail") {
    const auto clocks = made_up_clocks(7);
    const MadeUpOps ops = made_up_ops(clocks);
    std::vector<CommonClock> lines(clocks.size());
    for (std::size_t rank = 0; rank < clocks.size(); ++rank) lines[rank].offset = -clocks[rank].offset;
    CHECK(largest_difference(op_times(transform(ops, lines), CompleteAt::receiver), ops.op_time) > 10'000);
    lines.assign(clocks.size(), CommonClock{});
    CHECK(largest_difference(op_times(transform(ops, lines), CompleteAt::receiver), ops.op_time) > kSecond);
}

TEST_CASE("lines from noisy ping-pongs, composed along a tree, give T within the bound that a check finds") {
    for (const int ranks : {2, 3, 4, 7, 64}) {
        CAPTURE(ranks);
        Random random(3);
        const auto clocks = made_up_clocks(ranks);
        std::vector<CommonClock> lines(clocks.size());
        for (unsigned rank = 1; rank < clocks.size(); ++rank) {
            const unsigned parent = rank - std::bit_floor(rank);
            lines[rank] =
                compose(fit_line(measure(clocks[rank], clocks[parent], kSecond / 2, random)), lines[parent]);
        }
        // The check at the end of the ops: 10 s of extrapolation are in it.
        Nanoseconds bound = 0;
        for (std::size_t rank = 1; rank < clocks.size(); ++rank)
            for (const OffsetPoint& point : measure(clocks[rank], clocks[0], 11 * kSecond, random))
                bound = std::max(bound, error_bound(lines[rank], point));
        const MadeUpOps ops = made_up_ops(clocks);
        const Nanoseconds error =
            largest_difference(op_times(transform(ops, lines), CompleteAt::receiver), ops.op_time);
        CHECK(error <= bound);
        CHECK(bound < 500'000); // and the bound is worth something: clocks 180 ppm apart part by 1.8 ms in 10 s
    }
}

TEST_CASE("the best ping-pong is the shortest, its answer in the middle") {
    const std::vector<PingPong> taken{{100, 1500, 900}, {1000, 2100, 1200}, {2000, 3500, 2500}};
    const OffsetPoint best = best_of(taken);
    CHECK(best.local == 1100);
    CHECK(best.offset == 1000);
    CHECK(best.round_trip == 200);
}

TEST_CASE("a point's true offset lies within half its round trip") {
    Random random(5);
    const MadeUpClock from{kYear, 40e-6};
    const MadeUpClock to{-kYear, -40e-6};
    for (const OffsetPoint& point : measure(from, to, 0, random)) {
        const CommonClock from_to_true = from.to_true();
        const Nanoseconds truth = to.at(from_to_true.to_common(point.local)) - point.local;
        CHECK(std::abs(point.offset - truth) <= point.round_trip / 2 + 2);
    }
}

TEST_CASE("a line through exact points has their offset and drift") {
    for (const double drift : {0.0, 50e-6, -80e-6}) {
        std::vector<OffsetPoint> points;
        for (int i = 0; i < 10; ++i) {
            const Nanoseconds local = kYear + i * kSecond / 10;
            points.push_back({local, 3 * kYear + std::llrint(drift * static_cast<double>(i) * 1e8), 100});
        }
        const CommonClock line = fit_line(points);
        CHECK(line.drift == doctest::Approx(drift).epsilon(1e-4));
        const Nanoseconds later = kYear + 10 * kSecond;
        CHECK(std::abs(line.since(later + 3 * kYear + std::llrint(drift * 1e10), later)) <= 100);
    }
}

TEST_CASE("one point gives its offset and no drift") {
    const std::vector<OffsetPoint> points{{5 * kSecond, 123'456'789, 2000}};
    const CommonClock line = fit_line(points);
    CHECK(line.drift == 0);
    CHECK(line.to_common(7 * kSecond) == 7 * kSecond + 123'456'789);
}

TEST_CASE("a point with a long round trip hardly counts") {
    std::vector<OffsetPoint> points(10, {0, 1000, 2000});
    for (std::size_t i = 0; i < points.size(); ++i) points[i].local = static_cast<Nanoseconds>(i) * kSecond / 10;
    points[4] = {4 * kSecond / 10, 1'001'000, 2'002'000};
    const CommonClock line = fit_line(points);
    CHECK(std::abs(line.since(1000 + kSecond, kSecond)) <= 10);
}

TEST_CASE("points that cannot carry a drift give none") {
    // 1 ms apart with round trips of 1 ms: the slope through the offsets would be 0.4
    const std::vector<OffsetPoint> points{{0, 0, 1'000'000}, {1'000'000, 400'000, 1'000'000}};
    CHECK(std::abs(fit_line(points).drift) < 1e-6);
}

TEST_CASE("composing lines is applying them one after another") {
    Random random(9);
    for (int i = 0; i < 1000; ++i) {
        const auto any = [&](Nanoseconds bound) {
            return static_cast<Nanoseconds>(random.below(static_cast<std::uint64_t>(2 * bound))) - bound;
        };
        const Nanoseconds now = any(kYear);
        const CommonClock first{any(kYear), static_cast<double>(any(100)) * 1e-6, now + any(60 * kSecond)};
        const CommonClock second{any(kYear), static_cast<double>(any(100)) * 1e-6,
                                 now + first.offset + any(60 * kSecond)};
        const CommonClock both = compose(first, second);
        CHECK(std::abs(both.to_common(now) - second.to_common(first.to_common(now))) <= 2);
    }
}

TEST_CASE("to_local is the inverse of to_common within 1 ns, also years away from 0") {
    for (const MadeUpClock& clock : made_up_clocks(100)) {
        const CommonClock line = clock.to_true();
        for (Nanoseconds true_time = 0; true_time < 3600 * kSecond; true_time += 599 * kSecond + 7) {
            const Nanoseconds local = clock.at(true_time);
            CHECK(std::abs(line.to_local(line.to_common(local)) - local) <= 1);
            CHECK(std::abs(line.to_common(local) - true_time) <= 1);
        }
    }
}

TEST_CASE("the bound is what the line is off by and half the round trip") {
    const CommonClock line{1000, 0, 0};
    CHECK(error_bound(line, {50, 1000, 400}) == 200);
    CHECK(error_bound(line, {50, 1030, 400}) == 230);
    CHECK(error_bound(line, {50, 970, 401}) == 231);
}
