// SPDX-License-Identifier: BSD-3-Clause
// Round trips: each request is answered, by a message of the point's size.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "a2aperf/plan/flow_plan.hpp"

namespace a2aperf {

class EchoPlan : public FlowPlan {
public:
    int outstanding = 1; // requests of a client to one server that may be under way
    Bytes request_size = 0;

    std::string label(const Point& point) const override;
    FlowRoom room(const Point& point) const override; // of requests and answers
    Bytes bytes(const Point& point) const override;
    std::string in_buffers(const Point& point) const override;
    std::string_view posted() const override { return "requests and answers"; }
    Bytes other_size(const Point&) const override { return request_size; }
    std::vector<FlowMode> modes(const Point& point) const override;
};

// Of a point that is one.
const EchoPlan& echo_of(const Point& point);

} // namespace a2aperf
