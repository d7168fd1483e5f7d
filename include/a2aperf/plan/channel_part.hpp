// SPDX-License-Identifier: BSD-3-Clause
// One of the endpoints of a rank over which the messages of an op are dealt, round robin by the distance between
// source and destination: both have to use the endpoint of the same number, and at each distance a rank has one
// peer.
#pragma once

#include <string>

#include "a2aperf/plan/layout.hpp"
#include "a2aperf/plan/message_steps.hpp"

namespace a2aperf {

struct ChannelPart {
    int index = 0;
    int count = 1; // of a rank

    // Those of the peers with which this endpoint exchanges messages, in their order.
    Peers deal(const Peers& peers, Rank rank, int ranks) const;
    // Its part of a window of all of them, which is at least their number; 0 = all.
    int window(int of_all) const { return (of_all + count - 1 - index) / count; }
    // Which of a node's adapters it has. Where each rank has an endpoint for every adapter, those of one number are
    // on the adapter of one place everywhere; else the ranks of a node take them in turn. local_index: of the rank
    // on its node.
    int adapter(int adapters, int local_index) const {
        return (count >= adapters ? index : local_index * count + index) % adapters;
    }
};

// Where ranks are not placed node by node, peers on other nodes can be at distances that all are of few of the
// endpoints: of two nodes in turn all odd ones. Of so many of a rank the number that have a peer on another node,
// of the rank with the fewest; and the number that could have one.
struct OffNode {
    int have = 0, could_have = 0;
};
OffNode off_node_parts(const Layout& layout, int count);

// That the others carry nothing between nodes, of a rank at least, with what would help; empty where each that
// could has such peers.
std::string off_node_words(const Layout& layout, int count);

} // namespace a2aperf
