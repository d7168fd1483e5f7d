// SPDX-License-Identifier: BSD-3-Clause
// Before a point whose messages go by way of leaders is timed: each stage has its messages once, and at the end
// every rank has the right bytes of every other.
#pragma once

#include "forwarding_engine.hpp"
#include "verifier.hpp"

namespace a2aperf {

// One untimed op, as verify() has one. Throws RunError. Gives how long it filled and compared bytes.
template <TransferMode Mode>
Nanoseconds verify_forwarding(const Job& job, Channel& channel, OpLoop& loop, Deadline& deadline,
                              const Point& point, const ExchangeSettings& settings, std::uint64_t seed) {
    const TransferContext whole = channel.context(point.message_size);
    ForwardingStages<Mode> stages(*point.forwarding, whole, channel.memory(), channel.endpoint(), settings,
                                  deadline);
    loop.name(OpKind::verification);
    const std::uint64_t op = loop.next_op();
    const Nanoseconds begin = now_ns();
    for (Rank peer = 0; peer < whole.ranks; ++peer) {
        if (peer == whole.self) continue;
        fill_payload(channel.memory(), message_at(whole.send_buffer, whole.send_offset, peer, point.message_size),
                     sent_key(whole, peer, op, seed));
        blank_payload(channel.memory(),
                      message_at(whole.receive_buffer, whole.receive_offset, peer, point.message_size));
    }
    const Nanoseconds filled = now_ns();
    for (int number = 0; number < Forwarding::kStages; ++number) {
        Exchange<Mode>& exchange = stages.exchange(number);
        Verification<Mode> engine(exchange);
        const Peers& peers = stages.stage(number).peers;
        stages.copy(number);
        stages.begin(op, number);
        exchange.post_all_receives();
        // As in verify(): behind those that are due, and taken up when all have looked at what came.
        exchange.post_strays(channel.spare(), channel.receive_descriptor());
        loop.settle(engine);
        exchange.run();
        loop.settle(engine);
        check_arrivals(exchange.arrivals(), peers, job, point, stages.context(number), exchange.op_name());
        loop.settle(engine);
        exchange.sweep(nearest_of(peers.sends, stages.context(number)));
        loop.settle(engine);
    }
    stages.copy_the_rest();
    const Nanoseconds arrived = now_ns();
    for (Rank peer = 0; peer < whole.ranks; ++peer)
        if (peer != whole.self)
            check_received(message_at(whole.receive_buffer, whole.receive_offset, peer, point.message_size),
                           channel.memory(), peer, job, point, whole, op, seed, loop.names().of(op));
    return now_ns() - arrived + filled - begin;
}

} // namespace a2aperf
