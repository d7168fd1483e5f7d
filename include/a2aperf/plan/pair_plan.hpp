// SPDX-License-Identifier: BSD-3-Clause
// Every ordered pair of ranks, as steps in which each rank sends to one other.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "a2aperf/plan/plan.hpp"

namespace a2aperf {

struct PairAxes {
    std::vector<Bytes> sizes;
    std::string mode;
    Post post = Post::before;
    std::optional<int> most_steps; // of the R-1 distances; default: all, above 512 ranks 256
    Order order = Order::declared;
    std::uint64_t seed = 1;
};

// Distances, ascending: all R-1, or at most `most` >= 1 of them, evenly spread by the seed. 1 is always there, and
// with every other one its opposite R - d, so that both directions of a pair are measured.
std::vector<int> pair_distances(int ranks, int most, std::uint64_t seed);

// The step of this distance at this size.
Point pair_point(const PairAxes& axes, Bytes message_size, int distance);

// A point for every distance and size, sizes running fastest; in the order of the plan one size after the other
// of a distance, distances shuffled where that is wanted. The same axes give the same plan on all ranks.
Plan make_pair_plan(const PairAxes& axes, const Layout& layout,
                    const std::function<std::optional<std::string>(const Point&)>& skip);

} // namespace a2aperf
