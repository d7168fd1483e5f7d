// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/plan/channel_part.hpp"

#include <algorithm>
#include <iterator>
#include <vector>

#include <fmt/format.h>

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

OffNode off_node_parts(const Layout& layout, int count) {
    OffNode fewest{count, count};
    for (Rank rank = 0; rank < layout.ranks(); ++rank) {
        std::vector<bool> has_peer(static_cast<std::size_t>(count), false);
        int peers = 0;
        for (int distance = 1; distance < layout.ranks(); ++distance) {
            const Rank to = (rank + distance) % layout.ranks();
            if (layout.node_of(to) == layout.node_of(rank)) continue;
            has_peer[static_cast<std::size_t>((distance - 1) % count)] = true;
            ++peers;
        }
        const OffNode mine{static_cast<int>(std::ranges::count(has_peer, true)), std::min(count, peers)};
        if (mine.could_have - mine.have > fewest.could_have - fewest.have) fewest = mine;
    }
    return fewest;
}

std::string off_node_words(const Layout& layout, int count) {
    const OffNode parts = off_node_parts(layout, count);
    if (parts.have == parts.could_have) return {};
    constexpr int kMost = 8;
    int other = 2;
    while (other <= kMost) {
        const OffNode then = off_node_parts(layout, other);
        if (then.have == then.could_have) break;
        ++other;
    }
    return fmt::format(
        "of the {} endpoints of a rank {} {} all that it sends to other nodes, as ranks are placed over "
        "the nodes: place them node by node{}",
        count, parts.have, parts.have == 1 ? "carries" : "carry",
        other <= kMost ? fmt::format(", or take --endpoints {}", other) : "");
}

} // namespace a2aperf
