// SPDX-License-Identifier: BSD-3-Clause
// How long the points that are left will take, from those that were measured and from the ops of the one at hand.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "a2aperf/base/units.hpp"

namespace a2aperf {

class TimeLeft {
public:
    struct Work {
        Bytes message_size;
        int ops;                // 0: measured before
        bool is_counted = true; // among the points: a sentinel is not
    };

    // points: in their order; most_of_a_point: the time budget of each, where there is one.
    explicit TimeLeft(std::vector<Work> points, std::optional<Nanoseconds> most_of_a_point = std::nullopt)
        : points_(std::move(points)), most_of_a_point_(most_of_a_point) {}

    std::size_t points() const { return points_until(points_.size()); } // that are counted
    std::size_t points_until(std::size_t end) const;                    // those before place `end`

    void begin(std::size_t point, Nanoseconds now);
    void ops(int done, int expected, Nanoseconds now);
    void end(Nanoseconds now);

    // Nothing before the first ops were told.
    std::optional<Nanoseconds> at(Nanoseconds now) const;

private:
    double capped(double time, double spent = 0) const; // by the budget

    std::vector<Work> points_;
    std::optional<Nanoseconds> most_of_a_point_;
    std::size_t point_ = 0;
    Nanoseconds begun_ = 0;
    // Of the point at hand.
    Nanoseconds first_told_ = 0;
    int first_ops_ = 0, ops_ = 0, expected_ = 0;
    double per_op_ = 0; // ns
    // Of all so far: what a byte of a message costs in the points with the largest ones, and what a point takes
    // beside its ops.
    double per_byte_ = 0;
    Bytes largest_ = 0;
    double beside_ = 0;
    int ended_ = 0;
};

} // namespace a2aperf
