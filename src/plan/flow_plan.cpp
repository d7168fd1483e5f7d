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

std::vector<VerifiedSize> FlowPlan::verified(const Point& point) const {
    std::vector<VerifiedSize> sizes{{0, point.message_size}};
    if (other_size(point) != point.message_size) sizes.push_back({0, other_size(point)});
    return sizes;
}

std::vector<FlowMode> FlowPlan::modes(const Point& point) const {
    return {{point.mode, point.message_size}};
}

} // namespace a2aperf
