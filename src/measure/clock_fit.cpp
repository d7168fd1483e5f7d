// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/measure/clock_fit.hpp"

#include <algorithm>
#include <cstdlib>

namespace a2aperf {
namespace {

constexpr double kUsualDrift = 1e-4; // ns/ns; quartz is specified to some 50 ppm

Nanoseconds round_trip(const PingPong& p) {
    return p.received - p.sent;
}

} // namespace

OffsetPoint best_of(std::span<const PingPong> ping_pongs) {
    const PingPong& best = *std::ranges::min_element(ping_pongs, {}, round_trip);
    const Nanoseconds middle = best.sent + round_trip(best) / 2;
    return {middle, best.answered - middle, round_trip(best)};
}

CommonClock fit_line(std::span<const OffsetPoint> points) {
    // Differences from the newest point are small enough for doubles to hold every nanosecond.
    const OffsetPoint& newest = points.back();
    double weights = 0;
    double mean_x = 0;
    double mean_y = 0;
    const auto add_up = [&](auto&& add) {
        for (const OffsetPoint& p : points) {
            const double half = static_cast<double>(std::max<Nanoseconds>(p.round_trip, 1)) / 2;
            add(1 / (half * half), static_cast<double>(p.local - newest.local),
                static_cast<double>(p.offset - newest.offset));
        }
    };
    add_up([&](double w, double x, double y) {
        weights += w;
        mean_x += w * x;
        mean_y += w * y;
    });
    mean_x /= weights;
    mean_y /= weights;

    double sum_xx = 0;
    double sum_xy = 0;
    add_up([&](double w, double x, double y) {
        sum_xx += w * (x - mean_x) * (x - mean_x);
        sum_xy += w * (x - mean_x) * (y - mean_y);
    });
    const double drift = sum_xy / (sum_xx + 1 / (kUsualDrift * kUsualDrift));
    return {newest.offset + std::llrint(mean_y - drift * mean_x), drift, newest.local};
}

CommonClock compose(const CommonClock& to_other, const CommonClock& other_to_common) {
    const Nanoseconds common = other_to_common.to_common(to_other.to_common(to_other.reference));
    return {common - to_other.reference,
            to_other.drift + other_to_common.drift + to_other.drift * other_to_common.drift, to_other.reference};
}

Nanoseconds error_bound(const CommonClock& line, const OffsetPoint& point) {
    return std::abs(line.since(point.local + point.offset, point.local)) + (point.round_trip + 1) / 2;
}

} // namespace a2aperf
