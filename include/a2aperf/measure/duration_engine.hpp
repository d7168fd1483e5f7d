// SPDX-License-Identifier: BSD-3-Clause
// What moves data for a duration: nothing in it waits for other ranks.
#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "a2aperf/measure/silence.hpp"

namespace a2aperf {

// Whatever happens is counted at the rank where it happens: a message that was sent when its send completes, one
// that came when it has arrived.
template <class Engine>
concept DurationEngine = requires(Engine& engine, const Engine& seen, std::span<const std::int64_t> due) {
    { Engine::kCounters[0] } -> std::convertible_to<std::string_view>; // what it counts: a column of samples each
    { seen.counters() } -> std::convertible_to<std::span<const std::uint64_t>>; // since prepare(), in their order

    engine.prepare(); // untimed: receives are posted here, and nothing is sent

    // Posts the messages that it may, and reads its queue once. True when something happened.
    { engine.advance() } -> std::same_as<bool>;
    // The same, but starts no message of its own: before the start, and from the end on.
    { engine.progress() } -> std::same_as<bool>;
    { seen.is_over() } -> std::same_as<bool>;   // it starts and expects no more, however long the duration is
    { seen.has_peers() } -> std::same_as<bool>; // and while it is not over, what it counts grows

    // After the end: how many messages it has started for each rank, [R], and is told how many each rank has for
    // it.
    { seen.started() } -> std::convertible_to<std::span<const std::int64_t>>;
    engine.expect(due);
    { seen.is_drained() } -> std::same_as<bool>;         // all of its own have completed, and all that are due came
    { seen.waiting_for() } -> std::same_as<std::string>; // "3 messages from rank 1 and its sends to rank 2"
};

// One that tells its peers apart: one of them that is silent ends the duration, though the others go on.
template <class Engine>
concept TellsPeersApart = DurationEngine<Engine> && requires(const Engine& seen, std::vector<PeerSeen>& peers) {
    seen.see_peers(peers);                                 // the same ones in the same order whenever it is asked
    { seen.most_ahead() } -> std::same_as<std::uint64_t>;  // as Silence
    { seen.longest_pause() } -> std::same_as<Nanoseconds>; // beyond the timeout: for so long peers may do nothing
};

// One whose messages are due at moments: it is told which ones of this rank's clock are the start and the end.
template <class Engine>
concept OpenedEngine = DurationEngine<Engine> && requires(Engine& engine) {
    engine.open(Nanoseconds{}, Nanoseconds{});
};

// One that leaves receives posted when all are drained has its peers take them up.
template <class Engine>
concept SweptEngine = DurationEngine<Engine> && requires(Engine& engine, const Engine& seen) {
    engine.expect_sweep(); // this rank is drained: what comes from now on takes up receives
    // All ranks expect it: takes up those of its peers, as many as go at a time. True when all are, and its own.
    { engine.sweep() } -> std::same_as<bool>;
};

} // namespace a2aperf
