// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/plan/layout.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace a2aperf {

Layout::Layout(std::vector<int> node_of_rank) : node_of_rank_(std::move(node_of_rank)) {
    if (node_of_rank_.empty()) throw std::invalid_argument("layout: no ranks");
    const auto [least, most] = std::minmax_element(node_of_rank_.begin(), node_of_rank_.end());
    if (*least < 0 || *most >= ranks()) throw std::invalid_argument("layout: node index out of range");

    rank_at_.resize(static_cast<std::size_t>(*most) + 1);
    for (Rank rank = 0; rank < ranks(); ++rank) {
        std::vector<Rank>& on_node = rank_at_[static_cast<std::size_t>(node_of(rank))];
        local_index_.push_back(static_cast<int>(on_node.size()));
        on_node.push_back(rank);
    }
    for (const std::vector<Rank>& on_node : rank_at_) {
        if (on_node.empty()) throw std::invalid_argument("layout: a node without ranks");
        ranks_on_node_.push_back(static_cast<int>(on_node.size()));
    }
}

Layout Layout::blocks(int ranks, int ranks_per_node) {
    if (ranks < 1 || ranks_per_node < 1) throw std::invalid_argument("layout: needs at least one rank and node");
    std::vector<int> node_of_rank;
    node_of_rank.reserve(static_cast<std::size_t>(ranks));
    for (Rank rank = 0; rank < ranks; ++rank) node_of_rank.push_back(rank / ranks_per_node);
    return Layout(std::move(node_of_rank));
}

bool Layout::is_even() const {
    return std::all_of(ranks_on_node_.begin(), ranks_on_node_.end(),
                       [this](int count) { return count == ranks_on_node_.front(); });
}

} // namespace a2aperf
