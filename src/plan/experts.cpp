// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/plan/experts.hpp"

#include <algorithm>
#include <numeric>

namespace a2aperf {

std::uint64_t Experts::room(int ranks) const {
    const double copies = static_cast<double>(ranks) * tokens * top;
    return std::max<std::uint64_t>(static_cast<std::uint64_t>(capacity * copies / experts), 1);
}

TokenCounts route_tokens(const Experts& experts, int ranks, Random random) {
    const auto count = static_cast<std::size_t>(experts.experts);
    const auto top = static_cast<std::size_t>(experts.top);
    const std::uint64_t room = experts.room(ranks);
    TokenCounts counts{std::vector<std::uint64_t>(count),
                       std::vector<std::uint64_t>(static_cast<std::size_t>(ranks) * count)};
    std::vector<std::uint32_t> order(count);
    std::iota(order.begin(), order.end(), 0U);
    for (int token = 0; token < experts.tokens; ++token)
        for (std::size_t rank = 0; rank < static_cast<std::size_t>(ranks); ++rank)
            // The first of a shuffle (Fisher-Yates), from whatever order the token before left.
            for (std::size_t i = 0; i < top; ++i) {
                std::swap(order[i], order[i + random.below(count - i)]);
                const std::size_t expert = order[i];
                if (counts.asked[expert]++ < room) ++counts.kept[rank * count + expert];
            }
    return counts;
}

TrafficMatrix expert_traffic(const Experts& experts, int ranks, Random random) {
    const TokenCounts counts = route_tokens(experts, ranks, random);
    TrafficMatrix matrix(ranks);
    const auto of_each = static_cast<std::size_t>(experts.experts);
    for (Rank from = 0; from < ranks; ++from)
        for (int expert = 0; expert < experts.experts; ++expert) {
            const Rank to = experts.rank_of(expert, ranks);
            if (to == from) continue;
            const std::size_t at = static_cast<std::size_t>(from) * of_each + static_cast<std::size_t>(expert);
            matrix.set(from, to, matrix.weight(from, to) + counts.kept[at]);
        }
    return matrix;
}

} // namespace a2aperf
