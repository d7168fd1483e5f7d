// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/plan/channel_part.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include <doctest/doctest.h>

using namespace a2aperf;

namespace {

bool contains(const std::vector<Rank>& ranks, Rank rank) {
    return std::ranges::find(ranks, rank) != ranks.end();
}

} // namespace

TEST_CASE("a message has one endpoint, the same at both of its ends, and endpoints differ by one peer at most") {
    for (const int ranks : {2, 3, 4, 7}) {
        for (int count = 1; count < ranks; ++count) {
            std::vector<int> carried(static_cast<std::size_t>(ranks * ranks));
            for (int index = 0; index < count; ++index) {
                std::vector<Peers> of_ranks;
                for (Rank rank = 0; rank < ranks; ++rank) {
                    Peers all;
                    for (Rank peer = 0; peer < ranks; ++peer)
                        if (peer != rank) all.sends.push_back(peer);
                    all.receives = all.sends;
                    of_ranks.push_back(ChannelPart{index, count}.deal(all, rank, ranks));
                    const auto peers = static_cast<int>(of_ranks.back().sends.size());
                    CHECK(peers >= (ranks - 1) / count);
                    CHECK(peers <= (ranks - 1 + count - 1) / count);
                }
                for (Rank from = 0; from < ranks; ++from)
                    for (Rank to = 0; to < ranks; ++to) {
                        const bool is_sent = contains(of_ranks[static_cast<std::size_t>(from)].sends, to);
                        CHECK(is_sent == contains(of_ranks[static_cast<std::size_t>(to)].receives, from));
                        if (is_sent) ++carried[static_cast<std::size_t>(from * ranks + to)];
                    }
            }
            for (Rank from = 0; from < ranks; ++from)
                for (Rank to = 0; to < ranks; ++to)
                    CHECK(carried[static_cast<std::size_t>(from * ranks + to)] == (from == to ? 0 : 1));
        }
    }
}

TEST_CASE("the order of the schedule stays") {
    const Peers all{{3, 1, 2, 5, 4}, {5, 4, 3, 2, 1}};
    const Peers first = ChannelPart{0, 2}.deal(all, 0, 6);
    CHECK(first.sends == std::vector<Rank>{3, 1, 5});
    CHECK(first.receives == std::vector<Rank>{5, 3, 1});
}

TEST_CASE("endpoints share a window") {
    for (int window = 3; window < 20; ++window) {
        int sum = 0;
        for (int index = 0; index < 3; ++index) {
            const int part = ChannelPart{index, 3}.window(window);
            CHECK(part >= window / 3);
            CHECK(part <= window / 3 + 1);
            sum += part;
        }
        CHECK(sum == window);
    }
    for (int index = 0; index < 3; ++index) CHECK(ChannelPart{index, 3}.window(0) == 0);
}

TEST_CASE("endpoints of one number have one adapter where a rank has enough of them, else ranks take turns") {
    const auto adapters = [](int endpoints, int count, int local_index) {
        std::vector<int> of_rank;
        for (int i = 0; i < endpoints; ++i)
            of_rank.push_back(ChannelPart{i, endpoints}.adapter(count, local_index));
        return of_rank;
    };
    for (int local_index = 0; local_index < 5; ++local_index) {
        CHECK(adapters(2, 2, local_index) == std::vector<int>{0, 1});
        CHECK(adapters(5, 2, local_index) == std::vector<int>{0, 1, 0, 1, 0});
        CHECK(adapters(3, 1, local_index) == std::vector<int>{0, 0, 0});
        CHECK(adapters(1, 3, local_index) == std::vector<int>{local_index % 3});
    }
    CHECK(adapters(2, 3, 0) == std::vector<int>{0, 1});
    CHECK(adapters(2, 3, 1) == std::vector<int>{2, 0});
    CHECK(adapters(2, 3, 2) == std::vector<int>{1, 2});
}

TEST_CASE("an endpoint that has no peer on another node is known, and what would help") {
    const auto have = [](const Layout& layout, int count) { return off_node_parts(layout, count).have; };
    const Layout in_turn({0, 1, 0, 1, 0, 1, 0, 1});
    CHECK(have(in_turn, 2) == 1); // all odd distances
    CHECK(off_node_parts(in_turn, 2).could_have == 2);
    CHECK(have(in_turn, 3) == 3);
    CHECK(have(in_turn, 4) == 2);
    CHECK(off_node_words(in_turn, 2) == "of the 2 endpoints of a rank 1 carries all that it sends to other nodes, "
                                        "as ranks are placed over the nodes: "
                                        "place them node by node, or take --endpoints 3");
    CHECK(off_node_words(Layout({0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3}), 4)
              .starts_with("of the 4 endpoints of a rank 3 "));
    for (int count = 1; count <= 9; ++count) {
        CAPTURE(count);
        for (const Layout& blocks :
             {Layout::blocks(8, 4), Layout::blocks(12, 3), Layout::blocks(7, 3), Layout::blocks(5, 1)})
            CHECK(off_node_words(blocks, count).empty());
        CHECK(off_node_words(Layout::blocks(6, 6), count).empty()); // nothing leaves the node
    }
}

TEST_CASE("what is said of endpoints takes no look at each pair of ranks where all of them have peers") {
    // A look at each pair would not end here.
    constexpr int kRanks = 2'000'000;
    std::vector<int> in_turn(kRanks);
    for (int rank = 0; rank < kRanks; ++rank) in_turn[static_cast<std::size_t>(rank)] = rank % 1000;
    CHECK(off_node_words(Layout(in_turn), 7).empty());
    CHECK(off_node_words(Layout::blocks(kRanks, kRanks / 2), 2).empty()); // the nearest are all on its node
}

TEST_CASE("endpoints that are said to have peers on other nodes are those that they are dealt to") {
    const Layout layout({0, 1, 0, 2, 1, 0, 2, 2, 1});
    for (int count = 1; count <= 4; ++count) {
        int fewest = count;
        for (Rank rank = 0; rank < layout.ranks(); ++rank) {
            Peers peers;
            for (Rank to = 0; to < layout.ranks(); ++to)
                if (layout.node_of(to) != layout.node_of(rank)) peers.sends.push_back(to);
            int have = 0;
            for (int i = 0; i < count; ++i)
                if (!ChannelPart{i, count}.deal(peers, rank, layout.ranks()).sends.empty()) ++have;
            fewest = std::min(fewest, have);
        }
        CHECK(off_node_parts(layout, count).have == fewest);
    }
}
