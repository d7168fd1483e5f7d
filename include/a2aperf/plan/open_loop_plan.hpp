// SPDX-License-Identifier: BSD-3-Clause
// Round trips whose messages are due at a rate.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "a2aperf/plan/due_times.hpp"
#include "a2aperf/plan/echo_plan.hpp"

namespace a2aperf {

class OpenLoopPlan final : public EchoPlan {
public:
    std::int64_t rate = 1; // messages that are due per second, of each pair
    Arrivals arrivals = Arrivals::even;
    int relays = 0; // the messages of pair p go over relay p mod so many, there and back; 0 = straight
    Rank first_relay = 0;
    Nanoseconds relay_time = 0; // that a relay serves each message before it sends it on

    std::string label(const Point& point) const override;
    std::string label_of_all_rates(const Point& point) const;

    FlowRoom room(const Point& point) const override;

    // From the client to its server, of one of `who`.
    std::vector<StreamPair> hops(std::size_t pair) const;
    bool is_relay(Rank rank) const { return rank >= first_relay && rank < first_relay + relays; }
    // That a message may be behind others in one relay.
    Nanoseconds longest_queue() const;
    // Throws UsageError: more relays than pairs, a client with two servers over one relay, or a server with two
    // clients.
    void require_relays() const;

    DueRule due_rule(std::size_t pair, std::uint64_t seed) const; // of one of `who`
};

// Null: the point's messages have no rate.
const OpenLoopPlan* find_open_loop(const Point& point);
// Of a point that is one.
const OpenLoopPlan& open_loop_of(const Point& point);

} // namespace a2aperf
