// SPDX-License-Identifier: BSD-3-Clause
// Of several peers those that owe something and have not been heard of for too long, while the others go on.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "a2aperf/base/units.hpp"

namespace a2aperf {

// One peer, at one moment.
struct PeerSeen {
    Rank peer;
    std::string_view due; // what it owes: "answers"; "" = nothing
    bool is_asked;        // for that; else it sends by itself
    std::uint64_t heard;  // grows with what comes from it, and with what it is asked for
};

struct Silent {
    std::vector<Rank> peers; // all owe the same
    std::string_view due;
    Nanoseconds lasted = 0; // of each at least
};

// It looks seldom, and finds too little rather than too much:
// - Time counts in which this rank was looking: of the time between two looks, a part of the timeout at most. One
//   that was held up has first to read what came meanwhile.
// - What a peer owes may come behind all that its other peers have under way. So more than that must have come
//   since it was last heard of. Where nothing comes at all, that is the deadline's.
// - A peer that sends by itself may be held by another one, which then is the silent one: it has longer.
class Silence {
public:
    // Of this rank's counters their sum grows by no more than that before a peer's turn comes.
    Silence(Nanoseconds timeout, std::uint64_t most_ahead) : timeout_(timeout), most_ahead_(most_ahead) {}

    // What is seen: the same peers in the same order at the start, and before every look.
    std::vector<PeerSeen>& seen() { return seen_; }

    void start(Nanoseconds now); // and room for what is known of them
    bool is_due(Nanoseconds now) const { return now - looked_ >= timeout_ / kLooks; }

    // Allocates nothing while nobody is silent.
    Silent look(Nanoseconds now, std::uint64_t counted);

private:
    static constexpr int kLooks = 64; // in a timeout
    static constexpr int kShares = 8; // of it, at most one of which counts for a look
    static constexpr int kLonger = 8; // by so much of it, for who sends by itself

    struct State { // when it was last heard of, or owed nothing
        std::uint64_t heard, counted;
        Nanoseconds watched, moment;
    };

    Nanoseconds timeout_;
    std::uint64_t most_ahead_;
    std::vector<PeerSeen> seen_;
    std::vector<State> states_;
    Nanoseconds looked_ = 0, watched_ = 0;
};

} // namespace a2aperf
