// SPDX-License-Identifier: BSD-3-Clause
// Who sends to whom in a stream: `--pairs` in words, and what it means with so many ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "a2aperf/base/units.hpp"

namespace a2aperf {

struct StreamPair {
    Rank from, to;
    bool operator==(const StreamPair&) const = default;
};

// Credits that may be on the way from a receiver.
inline constexpr int kStreamCredits = 16;

// Bytes from one message of a stream to the next: a credit must fit, too.
constexpr std::size_t stream_stride(Bytes message_size) {
    constexpr std::size_t kAlignment = 64;
    const std::size_t size = message_size > sizeof(std::uint64_t) ? message_size : sizeof(std::uint64_t);
    return (size + kAlignment - 1) / kAlignment * kAlignment;
}

// Whether a rank may be its own partner.
enum class Partners { others, itself_too };

class StreamPairs {
public:
    // "halves" (rank r of the lower half to r + R/2), "neighbours" (rank 2r to 2r + 1), "all-to-one" (to rank 0),
    // "one-to-all" (from it), "loopback" (each to itself, where that may be) or "0:1,2:3". Throws UsageError for
    // what is none of them, a pair that is there twice, and a rank that sends to itself.
    // The option is what they are called where they do not fit the ranks.
    static StreamPairs parse(std::string_view text, Partners partners = Partners::itself_too,
                             std::string_view option = "--pairs");

    // The first ranks to the last ones, in turn: as many as there are more of, of clients or of servers. -1 = all
    // ranks but those on the other side.
    static StreamPairs between(int clients, int servers);

    const std::string& text() const { return text_; }

    bool is_loopback() const;

    // Those of each direction where it is duplex. Throws UsageError where there are no such ranks, an odd number
    // where each needs a partner, or a pair that is there in both directions already.
    std::vector<StreamPair> of(int ranks, bool is_duplex = false) const;

private:
    std::vector<StreamPair> one_way(int ranks) const;
    std::vector<StreamPair> first_to_last(int ranks) const;

    std::string text_, option_ = "--pairs";
    std::vector<StreamPair> listed_; // empty: by the word, or by these
    int clients_ = 0, servers_ = 0;  // 0 = not by number
};

} // namespace a2aperf
