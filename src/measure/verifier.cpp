// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/measure/verifier.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "a2aperf/base/error.hpp"

namespace a2aperf {
std::vector<VerificationRound> rounds_of(const Point& point, const Job& job, int places, std::uint64_t seed) {
    if (point.traffic) {
        Peers peers = point.peers(job.rank(), job.layout(), seed);
        return {{std::move(peers.sends), std::move(peers.receives)}};
    }
    const bool is_shared = places < point.messages_per_rank(job.ranks());
    Point verified = point;
    if (is_shared) verified.schedule = &find_schedule("shift");
    const auto per_round = static_cast<std::size_t>(is_shared ? places : job.ranks());
    const Peers peers = verified.peers(job.rank(), job.layout(), seed);
    std::vector<VerificationRound> rounds;
    for (std::size_t i = 0; i < peers.sends.size(); ++i) {
        if (i % per_round == 0) rounds.emplace_back();
        rounds.back().sends.push_back(peers.sends[i]);
        rounds.back().receives.push_back(peers.receives[i]);
    }
    return rounds;
}

Rank nearest_of(const std::vector<Rank>& peers, const TransferContext& context) {
    if (context.send_size != nullptr) return (context.self + 1) % context.ranks;
    const auto distance = [&](Rank peer) { return (peer - context.self + context.ranks) % context.ranks; };
    return *std::min_element(peers.begin(), peers.end(),
                             [&](Rank left, Rank right) { return distance(left) < distance(right); });
}

std::span<std::byte> message_at(std::byte* buffer, const std::size_t* offset, Rank peer, std::size_t size) {
    return {buffer + offset[static_cast<std::size_t>(peer)], size};
}

void check_arrivals(std::span<const std::uint32_t> arrivals, const VerificationRound& round, const Job& job,
                    const Point& point, const std::string& op_name) {
    std::vector<std::uint32_t> expected(arrivals.size());
    for (const Rank peer : round.receives) expected[static_cast<std::size_t>(peer)] = 1;
    // A receive for strays of any rank counts as one from ourselves.
    if (arrivals[static_cast<std::size_t>(job.rank())] != 0)
        throw RunError(fmt::format("verification of {} failed: an extra message arrived at {} in {}: sent twice, "
                                   "or to the wrong rank",
                                   point.label(), job.who(job.rank()), op_name),
                       EndReason::bad_data);
    for (std::size_t peer = 0; peer < arrivals.size(); ++peer)
        if (arrivals[peer] != expected[peer])
            throw RunError(
                fmt::format("verification of {} failed: {} message{} of {} arrived at {} in {}, expected {}",
                            point.label(), arrivals[peer], arrivals[peer] == 1 ? "" : "s",
                            job.who(static_cast<Rank>(peer)), job.who(job.rank()), op_name, expected[peer]),
                EndReason::bad_data);
}

void check_bytes(const ExchangeState& exchange, const MemoryKind& memory, const VerificationRound& round,
                 const Job& job, const Point& point, std::uint64_t op, std::uint64_t seed) {
    for (const Rank peer : round.receives) check_message(exchange, memory, peer, job, point, op, seed);
}

void check_message(const ExchangeState& exchange, const MemoryKind& memory, Rank peer, const Job& job,
                   const Point& point, std::uint64_t op, std::uint64_t seed, std::string_view moment) {
    const std::span<const std::byte> received{exchange.place_of(peer), point.bytes(peer, job.rank())};
    if (const auto wrong = check_payload(memory, received, {seed, peer, job.rank(), op}))
        throw RunError(fmt::format("verification of {} failed: byte {} of the message from {} to {} is {:#04x}, "
                                   "not {:#04x} ({}{})",
                                   point.label(), wrong->offset, job.who(peer), job.who(job.rank()),
                                   static_cast<int>(wrong->found), static_cast<int>(wrong->expected),
                                   exchange.op_name(), moment),
                       EndReason::bad_data);
}

} // namespace a2aperf
