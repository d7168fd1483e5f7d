// SPDX-License-Identifier: BSD-3-Clause
// In which step each message of a matrix goes, so that in none of them a rank sends twice or receives twice. Steps
// are the colours of the edges of a bipartite graph, of sources and destinations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "a2aperf/plan/traffic_matrix.hpp"

namespace a2aperf {

// Whom one rank sends to and receives from, in the order of posting.
struct Peers {
    std::vector<Rank> sends, receives;
};

class MessageSteps {
public:
    // Each message, the largest first, in the first step in which its source sends nothing and its destination
    // receives nothing: 2 D - 1 steps at the most, where D is most_messages().
    static MessageSteps greedy(const TrafficMatrix& matrix);
    // In D steps, and fewer are none: where a message finds no step in which both are free, messages between two
    // steps change places (D. König, Über Graphen und ihre Anwendung auf Determinantentheorie und Mengenlehre,
    // Mathematische Annalen 77, 1916).
    static MessageSteps coloured(const TrafficMatrix& matrix);

    int steps() const { return used_; }
    // Whom the rank sends to in a step, and whom it receives from; -1 = nobody.
    Rank target(Rank source, int step) const { return targets_[at(source, step)]; }
    Rank source(Rank destination, int step) const { return sources_[at(destination, step)]; }
    Peers peers(Rank rank) const;

private:
    struct Message {
        std::uint64_t weight;
        Rank from, to;
    };
    using Bits = std::vector<std::uint64_t>; // [rank][step], a bit for each

    MessageSteps(int ranks, int room);
    static std::vector<Message> largest_first(const TrafficMatrix& matrix);
    void place_all(const TrafficMatrix& matrix);
    // The first step in which neither has a message; room_ = there is none.
    int first_free(const std::uint64_t* one, const std::uint64_t* other) const;
    int make_free(Rank from, Rank to);
    void put(Rank from, Rank to, int step);
    void take(Rank from, Rank to, int step);
    const std::uint64_t* row(const Bits& words, Rank rank) const {
        return words.data() + static_cast<std::size_t>(rank) * words_;
    }
    std::size_t at(Rank rank, int step) const {
        return static_cast<std::size_t>(rank) * static_cast<std::size_t>(room_) + static_cast<std::size_t>(step);
    }

    int room_; // steps that there may be
    int used_ = 0;
    std::size_t words_;
    std::vector<std::int16_t> targets_, sources_; // [rank][step]
    Bits sending_, receiving_;
};

// Of a rank, sent or received.
int most_messages(const TrafficMatrix& matrix);

} // namespace a2aperf
