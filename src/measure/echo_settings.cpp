// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/measure/echo_settings.hpp"

#include "a2aperf/measure/mode_table.hpp"
#include "a2aperf/measure/op_loop.hpp"
#include "a2aperf/plan/echo_plan.hpp"
#include "a2aperf/plan/open_loop_plan.hpp"

namespace a2aperf {
namespace {

// Of an open loop: over its relays, where it has any.
void set_hops(EchoSettings& settings, const OpenLoopPlan& loop, Rank rank, std::uint64_t seed) {
    for (std::size_t i = 0; i < loop.who.size(); ++i)
        for (const StreamPair& hop : loop.hops(i)) {
            if (hop.from == rank) {
                settings.servers.push_back(hop.to);
                settings.due.push_back(loop.due_rule(i, seed));
            }
            if (hop.to == rank) settings.clients.push_back(hop.from);
        }
    settings.longest_gap = longest_gap(loop.due_rule(0, seed)) + loop.longest_queue();
    settings.service_time = loop.relay_time;
}

} // namespace

void add_peers(EchoSettings& settings, std::span<const StreamPair> pairs, Rank rank) {
    for (const StreamPair& pair : pairs) {
        if (pair.from == rank) settings.servers.push_back(pair.to);
        if (pair.to == rank) settings.clients.push_back(pair.from);
    }
}

void finish_settings(EchoSettings& settings, const EngineParts& parts, const Offer& offer) {
    settings.injects_answers = uses_inject(offer, parts.point);
    settings.injects_requests = uses_inject(offer, parts.point.of_size(settings.request_size));
    settings.ordered_write = offer.ordered_write();
    settings.op = parts.loop.next_op();
    for (int op = 1; op < echo_ops(settings.outstanding); ++op) (void)parts.loop.next_op();
}

EchoSettings round_trip_settings(const EngineParts& parts, const Offer& offer) {
    const Point& point = parts.point;
    const EchoPlan& echo = echo_of(point);
    const OpenLoopPlan* const paced = find_open_loop(point);
    EchoSettings settings{
        .outstanding = echo.outstanding, .request_size = echo.request_size, .most = echo.messages};
    if (paced != nullptr) {
        set_hops(settings, *paced, parts.job.rank(), parts.seed);
    } else {
        add_peers(settings, echo.who, parts.job.rank());
    }
    finish_settings(settings, parts, offer);
    return settings;
}

} // namespace a2aperf
