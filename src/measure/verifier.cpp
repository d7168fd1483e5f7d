// SPDX-License-Identifier: BSD-3-Clause
#include "verifier.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "a2aperf/base/error.hpp"

namespace a2aperf {
std::vector<Peers> rounds_of(const Point& point, const Job& job, int places, std::uint64_t seed) {
    if (point.traffic) {
        Peers peers = point.peers(job.rank(), job.layout(), seed);
        return {{std::move(peers.sends), std::move(peers.receives)}};
    }
    const bool is_shared = places < point.messages_per_rank(job.ranks());
    Point verified = point;
    if (is_shared) verified.schedule = &find_schedule("shift");
    const auto per_round = static_cast<std::size_t>(is_shared ? places : job.ranks());
    const Peers peers = verified.peers(job.rank(), job.layout(), seed);
    std::vector<Peers> rounds;
    for (std::size_t i = 0; i < peers.sends.size(); ++i) {
        if (i % per_round == 0) rounds.emplace_back();
        rounds.back().sends.push_back(peers.sends[i]);
        rounds.back().receives.push_back(peers.receives[i]);
    }
    return rounds;
}

PayloadKey sent_key(const TransferContext& context, Rank peer, std::uint64_t op, std::uint64_t seed) {
    return {seed, context.self + peer % context.chunks, peer, op};
}

PayloadKey received_key(const TransferContext& context, Rank peer, std::uint64_t op, std::uint64_t seed) {
    return {seed, peer, context.self + peer % context.chunks, op};
}

Rank nearest_of(const std::vector<Rank>& peers, const TransferContext& context) {
    // A chunk that is at all: the first of the message to the next rank.
    if (context.send_size != nullptr) return (context.self + context.chunks) % context.ranks;
    const auto distance = [&](Rank peer) { return (peer - context.self + context.ranks) % context.ranks; };
    return *std::min_element(peers.begin(), peers.end(),
                             [&](Rank left, Rank right) { return distance(left) < distance(right); });
}

std::span<std::byte> message_at(std::byte* buffer, const std::size_t* offset, Rank peer, std::size_t size) {
    return {buffer + offset[static_cast<std::size_t>(peer)], size};
}

namespace {

// "the message", or which part of it.
std::string part_of(Rank peer, const TransferContext& context) {
    return context.chunks == 1 ? "the message" : fmt::format("chunk {} of the message", peer % context.chunks);
}

} // namespace

void check_arrivals(std::span<const std::uint32_t> arrivals, const Peers& round, const Job& job, const Point& point,
                    const TransferContext& context, const std::string& op_name) {
    std::vector<std::uint32_t> expected(arrivals.size());
    for (const Rank peer : round.receives) expected[static_cast<std::size_t>(peer)] = 1;
    // A receive for strays of any rank counts as one from ourselves.
    if (arrivals[static_cast<std::size_t>(context.self)] != 0)
        throw RunError(fmt::format("verification of {} failed: an extra message arrived at {} in {}: sent twice, "
                                   "or to the wrong rank",
                                   point.label(), job.who(job.rank()), op_name),
                       EndReason::bad_data);
    for (std::size_t at = 0; at < arrivals.size(); ++at) {
        if (arrivals[at] == expected[at]) continue;
        const auto peer = static_cast<Rank>(at);
        const std::string chunk =
            context.chunks == 1 ? "" : fmt::format(" (chunk {} of it)", peer % context.chunks);
        throw RunError(
            fmt::format("verification of {} failed: {} message{}{} of {} arrived at {} in {}, expected {}",
                        point.label(), arrivals[at], arrivals[at] == 1 ? "" : "s", chunk,
                        job.who(peer / context.chunks), job.who(job.rank()), op_name, expected[at]),
            EndReason::bad_data);
    }
}

void check_bytes(const ExchangeState& exchange, const MemoryKind& memory, const Peers& round, const Job& job,
                 const Point& point, const TransferContext& context, std::uint64_t op, std::uint64_t seed) {
    for (const Rank peer : round.receives) check_message(exchange, memory, peer, job, point, context, op, seed);
}

void check_message(const ExchangeState& exchange, const MemoryKind& memory, Rank peer, const Job& job,
                   const Point& point, const TransferContext& context, std::uint64_t op, std::uint64_t seed,
                   std::string_view moment) {
    Bytes size = point.bytes(peer / context.chunks, job.rank());
    if (context.chunks > 1) size = chunk_bytes(size, point.chunk, peer % context.chunks);
    check_received({exchange.place_of(peer), size}, memory, peer, job, point, context, op, seed,
                   exchange.op_name() + std::string(moment));
}

void check_received(std::span<const std::byte> received, const MemoryKind& memory, Rank peer, const Job& job,
                    const Point& point, const TransferContext& context, std::uint64_t op, std::uint64_t seed,
                    std::string_view where) {
    if (const auto wrong = check_payload(memory, received, received_key(context, peer, op, seed)))
        throw RunError(fmt::format("verification of {} failed: byte {} of {} from {} to {} is {:#04x}, "
                                   "not {:#04x} ({})",
                                   point.label(), wrong->offset, part_of(peer, context),
                                   job.who(peer / context.chunks), job.who(job.rank()),
                                   static_cast<int>(wrong->found), static_cast<int>(wrong->expected), where),
                       EndReason::bad_data);
}

} // namespace a2aperf
