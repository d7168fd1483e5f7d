// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/record/time_left.hpp"

#include <algorithm>

namespace a2aperf {
namespace {

// An op of small messages takes as long as one of some kilobytes.
double weight(Bytes message_size) {
    constexpr double kFixed = 4096;
    return static_cast<double>(message_size) + kFixed;
}

} // namespace

std::size_t TimeLeft::points_until(std::size_t end) const {
    return static_cast<std::size_t>(std::count_if(points_.begin(),
                                                  points_.begin() + static_cast<std::ptrdiff_t>(end),
                                                  [](const Work& work) { return work.is_counted; }));
}

void TimeLeft::begin(std::size_t point, Nanoseconds now) {
    point_ = point;
    begun_ = now;
    first_ops_ = ops_ = expected_ = 0;
    per_op_ = 0;
}

// Before the first block a point is verified and warmed up, which says nothing of its ops.
void TimeLeft::ops(int done, int expected, Nanoseconds now) {
    if (first_ops_ == 0) {
        first_ops_ = done;
        first_told_ = now;
    }
    ops_ = done;
    expected_ = expected;
    const bool has_second = done > first_ops_;
    const auto time = static_cast<double>(now - (has_second ? first_told_ : begun_));
    per_op_ = time / std::max(done - (has_second ? first_ops_ : 0), 1);
    const Bytes size = points_[point_].message_size;
    if (size < largest_) return;
    largest_ = size;
    per_byte_ = per_op_ / weight(size);
}

void TimeLeft::end(Nanoseconds now) {
    beside_ += std::max(static_cast<double>(now - begun_) - per_op_ * ops_, 0.0);
    ++ended_;
}

std::optional<Nanoseconds> TimeLeft::at(Nanoseconds now) const {
    if (per_byte_ == 0) return std::nullopt;
    double left = 0;
    if (ops_ > 0) left = capped(per_op_ * std::max(expected_ - ops_, 0), static_cast<double>(now - begun_));
    const double beside = ended_ > 0 ? beside_ / ended_ : 0;
    for (std::size_t point = point_ + 1; point < points_.size(); ++point)
        if (const Work& work = points_[point]; work.ops > 0)
            left += capped(work.ops * weight(work.message_size) * per_byte_) + beside;
    return static_cast<Nanoseconds>(left);
}

double TimeLeft::capped(double time, double spent) const {
    if (!most_of_a_point_) return time;
    return std::min(time, std::max(static_cast<double>(*most_of_a_point_) - spent, 0.0));
}

} // namespace a2aperf
