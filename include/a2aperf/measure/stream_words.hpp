// SPDX-License-Identifier: BSD-3-Clause
// What peers write into a rank's flags while streams or round trips move by writes or reads, and it polls, behind
// those of verification, which are one of each rank: kStreamCredits words of each rank for its credits, and one for
// each buffer: its message is there, or is to be fetched.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <span>

#include "a2aperf/plan/stream_pairs.hpp"

namespace a2aperf {

class StreamWords {
public:
    static constexpr std::size_t count(int ranks, int buffers) {
        return of_message(ranks, 0) + static_cast<std::size_t>(buffers);
    }
    static constexpr std::size_t of_credit(int ranks, Rank from, std::size_t nth) {
        return static_cast<std::size_t>(ranks) + static_cast<std::size_t>(from) * kStreamCredits + nth;
    }
    static constexpr std::size_t of_message(int ranks, int buffer) {
        return of_credit(ranks, ranks, 0) + static_cast<std::size_t>(buffer);
    }

    // Forgets what an earlier stream left: while no peer writes. A rank has none in other modes.
    StreamWords(std::uint64_t* words, int ranks, int buffers) : words_(words), ranks_(ranks) {
        std::fill(words + ranks, words + count(ranks, buffers), 0);
    }

    // What was written before the word is read after it.
    std::uint64_t credit(Rank from, std::size_t nth) const { return load(of_credit(ranks_, from, nth)); }
    std::uint64_t message(int buffer) const { return load(of_message(ranks_, buffer)); }

private:
    std::uint64_t load(std::size_t word) const {
        return std::atomic_ref(words_[word]).load(std::memory_order_acquire);
    }

    std::uint64_t* words_;
    int ranks_;
};

} // namespace a2aperf
