// SPDX-License-Identifier: BSD-3-Clause
// What one rank has to do in a point of round trips.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "a2aperf/base/units.hpp"
#include "a2aperf/plan/due_times.hpp"
#include "a2aperf/plan/stream_pairs.hpp"

namespace a2aperf {

class Offer;
struct EngineParts;

// Those of the requests' places, then those of the answers'. Their low 8 bits are all that the data of a message
// has.
constexpr int echo_ops(int outstanding) {
    return 2 * outstanding;
}
inline constexpr int kMostOutstanding = 64;

struct EchoSettings {
    std::vector<Rank> servers{}, clients{}; // whom this rank asks, and whom it answers
    int outstanding = 1;                    // requests to one server that may be under way
    Bytes request_size = 0;
    std::int64_t most = -1; // requests to each server; -1 = until the end of the duration
    bool injects_requests = false, injects_answers = false;
    Bytes ordered_write = 0; // where a flag tells of a message: it comes behind one of this size, posted after it
    std::uint64_t op = 0;    // the first of echo_ops() that differ between all flows and ops of a launch
    std::vector<DueRule> due{};   // of the requests to each of the servers, where they have a rate
    Nanoseconds longest_gap = 0;  // between two requests, of any client
    Nanoseconds service_time = 0; // of a relay, for each request: those of a client go to the server in its place
};

// Of this rank, in a point of round trips or of an open loop: over its relays, where it has any. Takes the ops that
// it needs of the launch's.
EchoSettings round_trip_settings(const EngineParts& parts, const Offer& offer);

// For the parts of such an engine: the peers of this rank among the pairs,
void add_peers(EchoSettings& settings, std::span<const StreamPair> pairs, Rank rank);
// and what follows from the point, the provider and what was asked for, with the ops as above.
void finish_settings(EchoSettings& settings, const EngineParts& parts, const Offer& offer);

} // namespace a2aperf
