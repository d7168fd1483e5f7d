// SPDX-License-Identifier: BSD-3-Clause
// Before a point is timed: every message arrives once, at the right rank, with the right bytes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "a2aperf/base/clock.hpp"
#include "a2aperf/job/job.hpp"
#include "a2aperf/measure/channel.hpp"
#include "a2aperf/measure/engine.hpp"
#include "a2aperf/measure/exchange.hpp"
#include "a2aperf/measure/op_loop.hpp"
#include "a2aperf/plan/channel_part.hpp"
#include "a2aperf/plan/point.hpp"
#include "messages.hpp"
#include "payload.hpp"

namespace a2aperf {

// With a place for every peer, and of traffic that is not uniform, the point's own schedule is verified, in one
// round. Where places are shared, the peers at successive distances have different places: as many of them make a
// round.
std::vector<Peers> rounds_of(const Point& point, const Job& job, int places, std::uint64_t seed);

// The peer at the smallest distance: at the same distance on all ranks, so that each is the nearest of one. Of
// traffic that is not uniform the next rank, whether it is sent anything or not.
Rank nearest_of(const std::vector<Rank>& peers, const TransferContext& context);

std::span<std::byte> message_at(std::byte* buffer, const std::size_t* offset, Rank peer, std::size_t size);

// Throw RunError that names source, destination, op and what is wrong. context: of the exchange; of messages that
// are cut it has chunks, and so has the round.
void check_arrivals(std::span<const std::uint32_t> arrivals, const Peers& round, const Job& job, const Point& point,
                    const TransferContext& context, const std::string& op_name);
void check_bytes(const ExchangeState& exchange, const MemoryKind& memory, const Peers& round, const Job& job,
                 const Point& point, const TransferContext& context, std::uint64_t op, std::uint64_t seed);
// Of a message that lies there. where: the op, and when it was looked at.
void check_received(std::span<const std::byte> received, const MemoryKind& memory, Rank peer, const Job& job,
                    const Point& point, const TransferContext& context, std::uint64_t op, std::uint64_t seed,
                    std::string_view where);
// Of the message of one peer, or of one chunk of it. moment: what is said of when, if anything.
void check_message(const ExchangeState& exchange, const MemoryKind& memory, Rank peer, const Job& job,
                   const Point& point, const TransferContext& context, std::uint64_t op, std::uint64_t seed,
                   std::string_view moment = {});

// Bytes that are a function of who sends what to whom: of a chunk, whose source and destination are indices, too.
PayloadKey sent_key(const TransferContext& context, Rank peer, std::uint64_t op, std::uint64_t seed);
PayloadKey received_key(const TransferContext& context, Rank peer, std::uint64_t op, std::uint64_t seed);

// Makes the exchange look like an engine to the op loop's agreement.
template <TransferMode Mode>
class Verification final : public Engine {
public:
    explicit Verification(Exchange<Mode>& exchange) : exchange_(exchange) {}
    void prepare(std::uint64_t op) override {
        exchange_.begin(op);
        exchange_.post_all_receives();
    }
    bool progress() override { return exchange_.progress(); }
    Moments run() override { return exchange_.run(); }

private:
    Exchange<Mode>& exchange_;
};

// Runs one untimed op of the point's size and mode over each channel, of the messages that are dealt to it, in
// several rounds where buffers are shared by peers, and checks every byte. Sets up every connection on the way.
// Throws RunError. Gives how long it filled and compared bytes.
template <TransferMode Mode>
Nanoseconds verify(const Job& job, Channel& channel, OpLoop& loop, Deadline& deadline, const Point& point,
                   ExchangeSettings settings, std::uint64_t seed, ChannelPart part = {}) {
    const Messages<Mode> messages(channel, point);
    const TransferContext& context = messages.context();
    loop.name(OpKind::verification);
    Nanoseconds with_bytes = 0;
    for (const Peers& peers : rounds_of(point, job, channel.slots(point.place_bytes()), seed)) {
        const Peers round = messages.of(part.deal(peers, job.rank(), job.ranks()));
        if (!point.traffic && round.sends.empty()) continue; // on all ranks alike
        const std::uint64_t op = loop.next_op();
        const Nanoseconds begin = now_ns();
        for (const Rank peer : round.sends)
            fill_payload(channel.memory(),
                         message_at(context.send_buffer, context.send_offset, peer, context.size_to(peer)),
                         sent_key(context, peer, op, seed));
        // What an earlier op left must not pass for this one's.
        for (const Rank peer : round.receives)
            blank_payload(channel.memory(), message_at(context.receive_buffer, context.receive_offset, peer,
                                                       context.size_from(peer)));
        const Nanoseconds filled = now_ns();

        // A flag that comes too early would find the message torn, and later it would be whole.
        const ExchangeState* verified = nullptr;
        settings.on_flag = [&](Rank peer) {
            if (std::ranges::find(round.receives, peer) != round.receives.end())
                check_message(*verified, channel.memory(), peer, job, point, context, op, seed,
                              ", when its flag was seen");
        };
        Exchange<Mode> exchange(context, channel.endpoint(), round.sends, round.receives, settings, deadline);
        verified = &exchange;
        Verification<Mode> engine(exchange);
        engine.prepare(op);
        // Behind the receives that are due, so that they take only what is one too many.
        exchange.post_strays(channel.spare(), channel.receive_descriptor());
        loop.settle(engine); // receives are posted everywhere and places are free
        exchange.run();
        loop.settle(engine); // all that was sent in this round is here or on its way
        check_arrivals(exchange.arrivals(), round, job, point, context, exchange.op_name());
        loop.settle(engine); // all have checked: what comes now is the sweep
        exchange.sweep(nearest_of(round.sends, context));
        loop.settle(engine); // who leaves first reads on until the last one's sweep has come through
        const Nanoseconds arrived = now_ns();
        check_bytes(exchange, channel.memory(), round, job, point, context, op, seed);
        with_bytes += now_ns() - arrived + filled - begin;
    }
    return with_bytes;
}

} // namespace a2aperf
