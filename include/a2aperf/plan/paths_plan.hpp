// SPDX-License-Identifier: BSD-3-Clause
// Paths side by side: each a stream over a channel of its own.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "a2aperf/plan/flow_plan.hpp"
#include "a2aperf/plan/path.hpp"

namespace a2aperf {

class PathsPlan final : public FlowPlan {
public:
    std::vector<Path> paths;
    Nanoseconds interval = 0;
    int first_row = 0; // of its paths among those of the whole plan

    int ticks() const; // intervals of the duration

    std::string label(const Point& point) const override;
    // Of the channel that has most, of those of the point's mode; of all of them where modes are mixed.
    FlowRoom room(const Point& point) const override;
    Bytes bytes(const Point& point) const override;
    std::string in_buffers(const Point& point) const override;
    int threads(const Point&) const override { return 1; }
    std::vector<VerifiedSize> verified(const Point& point) const override;
    std::vector<FlowMode> modes(const Point& point) const override;
    std::string_view posted() const override { return "messages and credits"; }
};

// Of a point that is one.
const PathsPlan& paths_of(const Point& point);

} // namespace a2aperf
