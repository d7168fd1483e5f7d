// SPDX-License-Identifier: BSD-3-Clause
// Round trips whose messages are due at a rate.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "a2aperf/plan/due_times.hpp"
#include "a2aperf/plan/echo_plan.hpp"

namespace a2aperf {

class OpenLoopPlan final : public EchoPlan {
public:
    std::int64_t rate = 1; // messages that are due per second, of each pair
    Arrivals arrivals = Arrivals::even;

    std::string_view role() const override { return "open-loop"; }
    std::string label(const Point& point) const override;
    std::string label_of_all_rates(const Point& point) const;

    DueRule due_rule(std::size_t pair, std::uint64_t seed) const; // of one of `who`
};

// Null: the point's messages have no rate.
const OpenLoopPlan* find_open_loop(const Point& point);
// Of a point that is one.
const OpenLoopPlan& open_loop_of(const Point& point);

} // namespace a2aperf
