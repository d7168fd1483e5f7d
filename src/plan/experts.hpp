// SPDX-License-Identifier: BSD-3-Clause
// Traffic of a layer of experts whose ranks send tokens to them: each token goes to several, and an expert takes no
// more than it has room for.
#pragma once

#include <cstdint>
#include <vector>

#include "a2aperf/base/random.hpp"
#include "a2aperf/base/units.hpp"
#include "a2aperf/plan/traffic_matrix.hpp"

namespace a2aperf {

struct Experts {
    int experts = 64;
    int top = 8;            // that a token goes to, all different
    double capacity = 1.25; // of an expert, over the mean of copies that experts are sent
    int tokens = 1024;      // of each rank

    // Copies that an expert takes: capacity x R x tokens x top / experts, rounded down; at least 1. Exact: the
    // capacity is the shortest decimal number that it is written as, from 0.01 to 1000.
    std::uint64_t room(int ranks) const;
    // Expert e is on rank e R / experts, rounded down: each rank has as many as any other, give or take one.
    Rank rank_of(int expert, int ranks) const { return static_cast<Rank>(std::int64_t{expert} * ranks / experts); }
};

// How many copies of tokens each rank has for each expert.
struct TokenCounts {
    std::vector<std::uint64_t> asked; // [expert], before any is dropped
    std::vector<std::uint64_t> kept;  // [rank x experts + expert]
};

// The experts of a token are drawn, every one as likely as another. What is beyond the room of an expert is
// dropped: the first tokens of all ranks come first, rank by rank, then their second ones. So an expert that has
// room for few takes those of the ranks with the lowest numbers; no rank is more than a token ahead of another.
TokenCounts route_tokens(const Experts& experts, int ranks, Random random);

// Copies from rank to rank; those for experts of the rank itself make no message.
TrafficMatrix expert_traffic(const Experts& experts, int ranks, Random random);

} // namespace a2aperf
