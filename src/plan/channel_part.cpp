// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/plan/channel_part.hpp"

#include <algorithm>
#include <iterator>

namespace a2aperf {

Peers ChannelPart::deal(const Peers& peers, Rank rank, int ranks) const {
    const auto is_mine = [&](Rank from, Rank to) {
        return ((to - from + ranks) % ranks + count - 1) % count == index;
    };
    Peers mine;
    std::ranges::copy_if(peers.sends, std::back_inserter(mine.sends), [&](Rank to) { return is_mine(rank, to); });
    std::ranges::copy_if(peers.receives, std::back_inserter(mine.receives),
                         [&](Rank from) { return is_mine(from, rank); });
    return mine;
}

} // namespace a2aperf
