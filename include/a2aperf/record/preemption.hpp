// SPDX-License-Identifier: BSD-3-Clause
// Ranks that something else took the core from, of points that last a time and have no ops to count them by.
#pragma once

#include <cstdint>
#include <string>

#include "a2aperf/base/units.hpp"
#include "a2aperf/plan/point.hpp"
#include "a2aperf/result/point_result.hpp"

namespace a2aperf {

class Preemption {
public:
    void add(const Point& point, const PointResult& result);
    // "note: ranks were preempted at 1 of 4 points, most at 4096 B: 295 times in a second of its CPU time (rank
    // 1)", of less than a tenth of one what was counted; empty where none was more often than is worth a word.
    // yields: as of closing_words().
    std::string words(bool yields) const;

private:
    std::size_t points_ = 0, hit_ = 0;
    double most_ = 0; // involuntary context switches in a second of CPU time
    std::int64_t switches_ = 0;
    bool is_short_ = false; // the CPU time they were counted in
    std::size_t rank_ = 0;
    Bytes message_size_ = 0;
};

} // namespace a2aperf
