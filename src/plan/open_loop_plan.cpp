// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/plan/open_loop_plan.hpp"

#include <fmt/format.h>

#include "a2aperf/plan/point.hpp"
#include "a2aperf/plan/rate_list.hpp"

namespace a2aperf {
namespace {

std::string label_with(const OpenLoopPlan& plan, const Point& point, const std::string& rate) {
    return fmt::format("{} open-loop {}{} outstanding {}{} {} {} B", point.mode, plan.pairs, point.memory_words(),
                       plan.outstanding, rate, to_string(plan.arrivals), point.message_size);
}

} // namespace

std::string OpenLoopPlan::label(const Point& point) const {
    return label_with(*this, point, fmt::format(" rate {}", format_rate(rate)));
}

std::string OpenLoopPlan::label_of_all_rates(const Point& point) const {
    return label_with(*this, point, "");
}

DueRule OpenLoopPlan::due_rule(std::size_t pair, std::uint64_t seed) const {
    return {.arrivals = arrivals,
            .rate = rate,
            .pair = static_cast<int>(pair),
            .pairs = static_cast<int>(who.size()),
            .seed = seed};
}

const OpenLoopPlan* find_open_loop(const Point& point) {
    return dynamic_cast<const OpenLoopPlan*>(point.flow.get());
}

const OpenLoopPlan& open_loop_of(const Point& point) {
    return dynamic_cast<const OpenLoopPlan&>(*point.flow);
}

} // namespace a2aperf
