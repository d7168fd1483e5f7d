// SPDX-License-Identifier: BSD-3-Clause
// Points of a plan, as the tests of this folder ask for them.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "a2aperf/plan/point.hpp"
#include "a2aperf/plan/schedule.hpp"
#include "a2aperf/plan/stream_plan.hpp"

namespace a2aperf {

inline Point point_of(const char* mode, Bytes size) {
    Point point;
    point.mode = mode;
    point.schedule = &find_schedule("shift");
    point.message_size = size;
    return point;
}

inline Point stream_of(int window, std::vector<StreamPair> who, Bytes size = 8) {
    Point point = point_of("tagged", size);
    StreamPlan stream;
    stream.who = std::move(who);
    point.window = window;
    point.flow = std::make_shared<StreamPlan>(stream);
    return point;
}

} // namespace a2aperf
