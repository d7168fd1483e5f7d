// SPDX-License-Identifier: BSD-3-Clause
#include "experts.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <numeric>

namespace a2aperf {
namespace {

__extension__ using Wide = unsigned __int128;

// As it is written: digits x 10^-places.
struct Decimal {
    Wide digits = 0;
    int places = 0;
};

Decimal decimal_of(double value) {
    std::array<char, 400> text{}; // the longest there are in this form have 329 characters
    const auto end = std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed).ptr;
    Decimal decimal;
    bool is_behind = false;
    for (const char* at = text.data(); at != end; ++at) {
        if (*at == '.') {
            is_behind = true;
            continue;
        }
        decimal.digits = decimal.digits * 10 + static_cast<unsigned>(*at - '0');
        decimal.places += is_behind;
    }
    return decimal;
}

} // namespace

// A binary capacity of 0.58 is a little less than that, and 0.58 x 50 would be 28.
std::uint64_t Experts::room(int ranks) const {
    const Decimal given = decimal_of(capacity);
    const Wide copies = static_cast<Wide>(ranks) * static_cast<unsigned>(tokens) * static_cast<unsigned>(top);
    Wide parts = static_cast<unsigned>(experts);
    for (int place = 0; place < given.places; ++place) parts *= 10;
    return std::max<std::uint64_t>(static_cast<std::uint64_t>(given.digits * copies / parts), 1);
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
