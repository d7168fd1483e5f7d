// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/plan/open_loop_plan.hpp"

#include <set>
#include <utility>

#include <fmt/format.h>

#include "a2aperf/base/error.hpp"
#include "a2aperf/plan/point.hpp"
#include "a2aperf/plan/rate_list.hpp"

namespace a2aperf {
namespace {

std::string label_with(const OpenLoopPlan& plan, const Point& point, const std::string& rate) {
    std::string over;
    if (plan.relays > 0) over = fmt::format(" relays {}", plan.relays);
    if (plan.relay_time > 0) over += fmt::format(" of {}", format_duration(plan.relay_time));
    return fmt::format("{} open-loop {}{}{} outstanding {}{} {} {} B", point.mode, plan.pairs, over,
                       point.memory_words(), plan.outstanding, rate, to_string(plan.arrivals), point.message_size);
}

} // namespace

std::string OpenLoopPlan::label(const Point& point) const {
    return label_with(*this, point, fmt::format(" rate {}", format_rate(rate)));
}

std::string OpenLoopPlan::label_of_all_rates(const Point& point) const {
    return label_with(*this, point, "");
}

std::vector<StreamPair> OpenLoopPlan::hops(std::size_t pair) const {
    const StreamPair& ends = who[pair];
    if (relays == 0) return {ends};
    const Rank relay = first_relay + static_cast<Rank>(pair % static_cast<std::size_t>(relays));
    return {{ends.from, relay}, {relay, ends.to}};
}

FlowRoom OpenLoopPlan::room(const Point& point) const {
    EchoPlan each = *this; // of its hops
    each.who.clear();
    for (std::size_t pair = 0; pair < who.size(); ++pair)
        for (const StreamPair& hop : hops(pair)) each.who.push_back(hop);
    return each.EchoPlan::room(point);
}

Nanoseconds OpenLoopPlan::longest_queue() const {
    if (relays == 0) return 0;
    const auto pairs_of_one = (std::ssize(who) + relays - 1) / relays;
    return relay_time * outstanding * pairs_of_one;
}

void OpenLoopPlan::require_relays() const {
    if (relays > std::ssize(who))
        throw UsageError(
            fmt::format("--relays {}: the messages of a pair go over one relay, and of a client and its "
                        "server there {} {}",
                        relays, who.size() == 1 ? "is" : "are", counted(std::ssize(who), "pair")));
    std::set<std::pair<Rank, Rank>> seen_from, seen_to; // with a relay
    for (std::size_t pair = 0; relays > 0 && pair < who.size(); ++pair) {
        const std::vector<StreamPair> both = hops(pair);
        const Rank relay = both.front().to;
        const bool is_first_of_client = seen_from.emplace(who[pair].from, relay).second;
        if (is_first_of_client && seen_to.emplace(who[pair].to, relay).second) continue;
        throw UsageError(
            fmt::format("--relays {}: rank {} would be in two pairs over the relay of rank {}: over one "
                        "relay a client has one server, and a server one client",
                        relays, is_first_of_client ? who[pair].to : who[pair].from, relay));
    }
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
