// SPDX-License-Identifier: BSD-3-Clause
// What a rank knows of round trips whose messages are written into memory, or fetched out of it: where they lie at
// its peers, and the words that tell of them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "a2aperf/fabric/region.hpp"
#include "a2aperf/measure/stream_words.hpp"

namespace a2aperf {

// A place has the same number of messages at both ends, so its word says which one is there: the n-th message makes
// it n. What comes back tells that a message has been taken, and frees both its places.
struct EchoPlaces {
    // Of one side of a rank, at its peer.
    struct There {
        Region::Remote messages{};    // its first place: to write into, or to fetch out of
        int first = 0;                // which of the peer's places that is
        bool delivers_before = false; // a flag waits until its message is delivered
    };
    std::vector<There> there{}; // of each side

    // Where words tell.
    std::optional<StreamWords> words{};
    std::vector<std::uint64_t> due{}; // what the word of a place says when its next message is there
    std::vector<int> seen{};          // places whose messages have been found there
    std::vector<int> untold{};        // places whose message went, and whose flag found no room
    int first = 0;                    // the place that is looked at first: one that found no room for its read
};

} // namespace a2aperf
