// SPDX-License-Identifier: BSD-3-Clause
// The messages of one op, by source and destination: a matrix of shares at one message size, which is the mean of
// all ordered pairs of ranks.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "a2aperf/plan/layout.hpp"
#include "a2aperf/plan/traffic_draws.hpp"
#include "a2aperf/plan/traffic_matrix.hpp"

namespace a2aperf {

// Who has most to move, in one direction.
enum class Busiest { none = 0, rank_sends = 1, rank_receives = 2, node_sends = 3, node_receives = 4 };

struct Load {
    Busiest who = Busiest::none;
    int index = -1; // of the rank or node
    double bytes = 0;
};

// What each part of the machine has to move in one op.
struct TrafficLoads {
    double bytes = 0, across = 0;         // of all messages, and of those between nodes
    double messages = 0;                  // a whole number, but for the mean of several ops
    Bytes largest = 0;                    // message
    Bytes most_of_rank = 0;               // room that the messages of a rank need, sent or received
    Load rank, rank_across, node;         // the most; of a rank also what passes its node's links
    double node_least = 0, node_most = 0; // sent by a node to others
    double halves = 0;                    // one way between the halves of the node list, the larger one
    bool goes_one_way = false;            // some message (plan/one_way.hpp)

    // The largest row or column sum over their mean: 1 where all have the same. Of nodes NaN where there is one.
    double rank_imbalance(const Layout& layout) const;
    double node_imbalance(const Layout& layout) const;
};

// What several ops ask on the average. largest and most_of_rank are the most of any, and who has most is not told.
TrafficLoads mean_of(const std::vector<TrafficLoads>& ops);

// Every rank sends so many bytes to each other one.
TrafficLoads uniform_loads(const Layout& layout, Bytes message_size);

// The shortest time that the links allow, where all are as fast: of a rank one link, of a node all of its own.
struct TrafficBound {
    double ns; // NaN where no rate is known or nothing passes a link
    Load by;
};
TrafficBound bound_of(const TrafficLoads& loads, double rank_gbps, double node_gbps);

// "rank 3 receives", "node 1 sends"
std::string words_of(const Load& load);

class Traffic {
public:
    // index: of the matrix among those of the launch. Throws UsageError where the bytes of an op have no number.
    Traffic(std::string name, int index, std::shared_ptr<const TrafficMatrix> matrix, const Layout& layout,
            Bytes mean_size);
    // Drawn anew for each op: that of the first. index: of its matrix; those of the ops behind it follow.
    Traffic(std::string name, int index, std::shared_ptr<const TrafficDraws> draws, const Layout& layout,
            Bytes mean_size);

    const std::string& name() const { return name_; }
    int index() const { return index_; }
    const TrafficMatrix& matrix() const { return *matrix_; }
    int draws() const { return draws_ ? draws_->count() : 1; } // matrices that the ops take in turn
    // That of another op, with the room that any of them needs.
    Traffic of_op(int op, const Layout& layout) const;
    TrafficMatrix matrix_of_op(int op) const { return draws_ ? draws_->matrix(op) : *matrix_; }
    std::uint64_t digest() const { return draws_ ? draws_->digest() : matrix_->digest(); }
    double most_messages() const; // of a rank, sent or received; the mean of all draws
    // weight x R x (R - 1) x mean size / sum of the weights, to the nearest; of a weight above 0 at least 1 B.
    Bytes bytes(Rank from, Rank to) const;
    // Where each op has others: their mean.
    const TrafficLoads& loads() const { return loads_; }
    const std::vector<TrafficLoads>& loads_of_draws() const { return draw_loads_; } // empty where it is drawn once

private:
    void weigh(const Layout& layout);

    std::string name_;
    int index_;
    std::shared_ptr<const TrafficMatrix> matrix_;
    std::shared_ptr<const TrafficDraws> draws_; // null: drawn once
    Bytes mean_size_;
    Bytes all_ = 0; // R x (R - 1) x mean size
    std::uint64_t total_weight_ = 0;
    TrafficLoads loads_;
    std::vector<TrafficLoads> draw_loads_;
};

// Where the messages of one rank lie, one behind the other.
struct MessagePlaces {
    std::vector<Bytes> send, receive;                     // bytes, [R]; 0 = no message
    std::vector<std::size_t> send_offset, receive_offset; // in its own buffers, [R]
    std::vector<std::size_t> target_offset;               // of what it sends, in the receive buffer of each, [R]
    std::vector<std::size_t> source_offset;               // of what it receives, in the send buffer of each, [R]
};

// Room from one message to the next.
constexpr Bytes message_room(Bytes bytes) {
    constexpr Bytes kAlignment = 64;
    return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

// The same of a message with room for a whole number of chunks.
constexpr Bytes message_room(Bytes bytes, Bytes chunk) {
    return message_room((bytes + chunk - 1) / chunk * chunk);
}

// What is before the first message: there a rank that ends takes the others' last writes (fabric/last_write.hpp),
// and uniform traffic has the place of what it does not send itself.
inline constexpr std::size_t kBeforeMessages = message_room(1);

// Where any receive may take any message each has room for the largest.
enum class ReceivePlaces { of_source, of_any };
// Each has room for a whole number of chunks of this size.
MessagePlaces places_of(const Traffic& traffic, Rank rank, ReceivePlaces receives, Bytes chunk = 1);

} // namespace a2aperf
