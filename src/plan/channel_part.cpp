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

namespace {

// The peers on other nodes are at distances that follow one another, which all endpoints get in turn.
bool is_node_by_node(const Layout& layout) {
    int ends = 0;
    for (Rank rank = 0; rank < layout.ranks(); ++rank)
        if (layout.node_of(rank) != layout.node_of((rank + 1) % layout.ranks())) ++ends;
    return ends <= layout.nodes();
}

// How many endpoints have a peer on another node: it looks no further once all that can have one do.
int parts_off_node(const Layout& layout, int count, Rank rank, int could_have) {
    std::vector<bool> has_peer(static_cast<std::size_t>(count), false);
    int have = 0;
    for (int distance = 1; distance < layout.ranks() && have < could_have; ++distance) {
        if (layout.node_of((rank + distance) % layout.ranks()) == layout.node_of(rank)) continue;
        const auto part = static_cast<std::size_t>((distance - 1) % count);
        if (has_peer[part]) continue;
        has_peer[part] = true;
        ++have;
    }
    return have;
}

} // namespace

OffNode off_node_parts(const Layout& layout, int count) {
    OffNode fewest{count, count};
    for (Rank rank = 0; rank < layout.ranks(); ++rank) {
        const int here = layout.ranks_on_node()[static_cast<std::size_t>(layout.node_of(rank))];
        const int could_have = std::min(count, layout.ranks() - here);
        const OffNode mine{parts_off_node(layout, count, rank, could_have), could_have};
        if (mine.could_have - mine.have > fewest.could_have - fewest.have) fewest = mine;
    }
    return fewest;
}

std::string off_node_words(const Layout& layout, int count) {
    if (is_node_by_node(layout)) return {};
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
