// SPDX-License-Identifier: BSD-3-Clause
#include "plan/experts.hpp"

#include <algorithm>
#include <numeric>

#include <doctest/doctest.h>

using namespace a2aperf;

namespace {

std::uint64_t sum(const std::vector<std::uint64_t>& counts) {
    return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

std::vector<std::uint64_t> kept_by_expert(const TokenCounts& counts) {
    std::vector<std::uint64_t> kept(counts.asked.size());
    for (std::size_t at = 0; at < counts.kept.size(); ++at) kept[at % kept.size()] += counts.kept[at];
    return kept;
}

} // namespace

TEST_CASE("each token has as many copies as it has experts, and an expert takes what it has room for") {
    constexpr int kRanks = 6;
    for (const double capacity : {0.5, 1.0, 1.02, 1.25, 64.0}) {
        CAPTURE(capacity);
        const Experts experts{.experts = 16, .top = 4, .capacity = capacity, .tokens = 200};
        const TokenCounts counts = route_tokens(experts, kRanks, Random(3));
        CHECK(sum(counts.asked) == 6 * 200 * 4);
        // 300 copies are the mean of 16 experts.
        CHECK(experts.room(kRanks) == static_cast<std::uint64_t>(capacity * 300));
        const std::vector<std::uint64_t> kept = kept_by_expert(counts);
        for (std::size_t expert = 0; expert < 16; ++expert)
            CHECK(kept[expert] == std::min(counts.asked[expert], experts.room(kRanks)));
        for (std::size_t rank = 0; rank < kRanks; ++rank)
            for (std::size_t expert = 0; expert < 16; ++expert)
                CHECK(counts.kept[rank * 16 + expert] <= 200); // a token goes to an expert once
    }
}

TEST_CASE("a token that goes to every expert makes no imbalance") {
    const Experts all{.experts = 8, .top = 8, .capacity = 1, .tokens = 10};
    const TokenCounts counts = route_tokens(all, 4, Random(1));
    CHECK(std::ranges::all_of(counts.asked, [](std::uint64_t asked) { return asked == 40; }));
    CHECK(std::ranges::all_of(counts.kept, [](std::uint64_t kept) { return kept == 10; }));
    const TrafficMatrix matrix = expert_traffic(all, 4, Random(1));
    for (Rank from = 0; from < 4; ++from)
        for (Rank to = 0; to < 4; ++to) CHECK(matrix.weight(from, to) == (from == to ? 0 : 20)); // of two experts
}

TEST_CASE("half the room drops half the copies, of each rank alike") {
    const Experts half{.experts = 4, .top = 4, .capacity = 0.5, .tokens = 50};
    const TokenCounts counts = route_tokens(half, 5, Random(1));
    // 250 come to each expert, 125 find room: those of the first 25 tokens of each rank.
    CHECK(half.room(5) == 125);
    CHECK(std::ranges::all_of(counts.kept, [](std::uint64_t kept) { return kept == 25; }));
}

TEST_CASE("the room of an expert is exact, whatever the capacity is in binary") {
    const auto room = [](double capacity, int experts, int top, int tokens, int ranks) {
        return Experts{.experts = experts, .top = top, .capacity = capacity, .tokens = tokens}.room(ranks);
    };
    CHECK(room(0.58, 4, 2, 50, 2) == 29);
    CHECK(room(0.01, 7, 7, 100, 1) == 1);
    CHECK(room(1000, 1, 1, 1000000, 100) == 100000000000);
    CHECK(room(0.01, 64, 8, 1, 1) == 1); // at least one
    CHECK(room(1.0000000000000002, 1, 1, 1000000, 1) == 1000000);
    CHECK(room(0.9999999999999999, 1, 1, 1000000, 1) == 999999);
    for (int percent = 1; percent <= 1000; ++percent)
        for (const int tokens : {1, 7, 50, 1024}) {
            CAPTURE(percent);
            CAPTURE(tokens);
            const int copies = 3 * tokens * 2;
            CHECK(room(percent / 100., 8, 2, tokens, 3) ==
                  static_cast<std::uint64_t>(std::max(percent * copies / 800, 1)));
        }
}

TEST_CASE("where there is room for few the lowest ranks have it") {
    const Experts few{.experts = 4, .top = 4, .capacity = 0.25, .tokens = 1};
    const TrafficMatrix matrix = expert_traffic(few, 4, Random(1));
    for (Rank from = 0; from < 4; ++from)
        for (Rank to = 0; to < 4; ++to) CHECK(matrix.weight(from, to) == (from == 0 && to != 0 ? 1 : 0));
}

TEST_CASE("experts are placed evenly, and what is sent to a rank is that of its experts") {
    const Experts experts{.experts = 7, .top = 2, .capacity = 1.25, .tokens = 100};
    std::vector<int> placed(3);
    for (int expert = 0; expert < 7; ++expert) ++placed[static_cast<std::size_t>(experts.rank_of(expert, 3))];
    CHECK(placed == std::vector{3, 2, 2});
    const TokenCounts counts = route_tokens(experts, 3, Random(9));
    const TrafficMatrix matrix = expert_traffic(experts, 3, Random(9));
    for (Rank to = 0; to < 3; ++to) {
        std::uint64_t received = 0;
        std::uint64_t due = 0;
        for (Rank from = 0; from < 3; ++from) {
            received += matrix.weight(from, to);
            for (int expert = 0; expert < 7; ++expert)
                if (from != to && experts.rank_of(expert, 3) == to)
                    due += counts.kept[static_cast<std::size_t>(from) * 7 + static_cast<std::size_t>(expert)];
        }
        CHECK(received == due);
    }
    // Fewer experts than ranks: some ranks have none and are sent nothing.
    const TrafficMatrix few = expert_traffic({.experts = 2, .top = 1, .capacity = 2, .tokens = 10}, 4, Random(1));
    for (Rank from = 0; from < 4; ++from) CHECK(few.weight(from, 1) + few.weight(from, 3) == 0);
}
