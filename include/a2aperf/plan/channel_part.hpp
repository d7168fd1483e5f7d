// SPDX-License-Identifier: BSD-3-Clause
// One of the endpoints of a rank over which the messages of an op are dealt, round robin by the distance between
// source and destination: both have to use the endpoint of the same number, and at each distance a rank has one
// peer.
#pragma once

#include "a2aperf/plan/message_steps.hpp"

namespace a2aperf {

struct ChannelPart {
    int index = 0;
    int count = 1; // of a rank

    // Those of the peers with which this endpoint exchanges messages, in their order.
    Peers deal(const Peers& peers, Rank rank, int ranks) const;
    // Its part of a window of all of them, which is at least their number; 0 = all.
    int window(int of_all) const { return (of_all + count - 1 - index) / count; }
};

} // namespace a2aperf
