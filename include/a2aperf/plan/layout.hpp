// SPDX-License-Identifier: BSD-3-Clause
// Which rank sits on which node.
#pragma once

#include <vector>

#include "a2aperf/base/units.hpp"

namespace a2aperf {

class Layout {
public:
    // node_of_rank[r] in 0 … N-1, every node used; throws std::invalid_argument otherwise.
    explicit Layout(std::vector<int> node_of_rank);

    // R ranks, ranks_per_node to a node in blocks; the last node may have fewer.
    static Layout blocks(int ranks, int ranks_per_node);

    int ranks() const { return static_cast<int>(node_of_rank_.size()); }
    int nodes() const { return static_cast<int>(ranks_on_node_.size()); }
    int node_of(Rank rank) const { return node_of_rank_[static_cast<std::size_t>(rank)]; }
    // Position of the rank among the ranks of its node, in rank order.
    int local_index(Rank rank) const { return local_index_[static_cast<std::size_t>(rank)]; }
    const std::vector<int>& node_of_rank() const { return node_of_rank_; }
    // Number of ranks on each node, [N].
    const std::vector<int>& ranks_on_node() const { return ranks_on_node_; }
    double ranks_per_node() const { return static_cast<double>(ranks()) / nodes(); }
    bool is_even() const; // the same number of ranks on every node
    // rank_at[node][local index]
    const std::vector<std::vector<Rank>>& rank_at() const { return rank_at_; }

private:
    std::vector<int> node_of_rank_;
    std::vector<int> local_index_;
    std::vector<int> ranks_on_node_;
    std::vector<std::vector<Rank>> rank_at_;
};

} // namespace a2aperf
