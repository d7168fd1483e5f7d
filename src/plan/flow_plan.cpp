// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/plan/flow_plan.hpp"

#include "a2aperf/plan/point.hpp"

namespace a2aperf {

Bytes FlowPlan::other_size(const Point& point) const {
    return point.message_size;
}

int FlowPlan::threads(const Point& point) const {
    return point.channels;
}

std::vector<Bytes> FlowPlan::verified(const Point& point) const {
    return {point.message_size};
}

} // namespace a2aperf
