// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/plan/forwarding.hpp"

#include <cstdint>
#include <map>
#include <utility>

#include <doctest/doctest.h>

using namespace a2aperf;

namespace {

std::vector<Layout> layouts() {
    return {Layout::blocks(4, 2),       Layout::blocks(12, 4), Layout::blocks(7, 3), Layout({0, 1, 0, 1, 0, 1}),
            Layout({0, 1, 2, 2, 1, 2}), Layout({0, 0, 0, 1}),  Layout({0, 1, 1}),    Layout::blocks(40, 8)};
}

// All ranks of a launch, each with its two buffers; a message is one word, that says whose it is and for whom.
class Machine {
public:
    static constexpr Bytes kSize = 4;

    explicit Machine(const Layout& layout) : layout_(layout), forwarding_(layout, kSize) {
        const auto words = forwarding_.buffer_bytes() / kSize;
        for (Rank rank = 0; rank < layout.ranks(); ++rank) {
            ops_.push_back(forwarding_.of(rank));
            buffers_.push_back({std::vector<std::uint32_t>(words), std::vector<std::uint32_t>(words)});
            for (Rank peer = 0; peer < layout.ranks(); ++peer)
                if (peer != rank)
                    buffers_.back().first[at((peer - rank + layout.ranks()) % layout.ranks())] = word(rank, peer);
        }
    }

    static std::uint32_t word(Rank from, Rank to) { return static_cast<std::uint32_t>(from * 1000 + to + 1); }

    void run() {
        for (std::size_t stage = 0; stage < Forwarding::kStages; ++stage) {
            for (Rank rank = 0; rank < layout_.ranks(); ++rank) copy(rank, ops_[at(rank)].stages[stage].copies);
            for (Rank rank = 0; rank < layout_.ranks(); ++rank) deliver(rank, stage);
            check_receives(stage);
        }
        for (Rank rank = 0; rank < layout_.ranks(); ++rank) copy(rank, ops_[at(rank)].copies);
    }

    std::uint32_t received(Rank rank, Rank peer) const {
        return buffers_[at(rank)].second[at((rank - peer + layout_.ranks()) % layout_.ranks())];
    }

    const Forwarding& forwarding() const { return forwarding_; }
    Bytes longest = 0, of_leaders = 0; // message, and bytes between leaders and ranks of their nodes

private:
    static std::size_t at(int index) { return static_cast<std::size_t>(index); }

    std::vector<std::uint32_t>& words(Rank rank, Buffer buffer) {
        auto& both = buffers_[at(rank)];
        return buffer == Buffer::send ? both.first : both.second;
    }

    void move(std::vector<std::uint32_t>& from, std::size_t first, std::vector<std::uint32_t>& to,
              std::size_t place, std::size_t size) {
        REQUIRE(size % kSize == 0);
        REQUIRE(first + size <= from.size() * kSize);
        REQUIRE(place + size <= to.size() * kSize);
        for (std::size_t i = 0; i < size / kSize; ++i) to[place / kSize + i] = from[first / kSize + i];
    }

    void copy(Rank rank, const std::vector<BufferCopy>& copies) {
        for (const BufferCopy& one : copies)
            move(words(rank, one.from_buffer), one.from, words(rank, one.to_buffer), one.to, one.size);
    }

    void deliver(Rank rank, std::size_t stage) {
        const ForwardingStage& own = ops_[at(rank)].stages[stage];
        for (const Rank peer : own.peers.sends) {
            const ForwardingStage& there = ops_[at(peer)].stages[stage];
            REQUIRE(there.receive_size[at(rank)] == own.send_size[at(peer)]);
            move(words(rank, Buffer::send), own.send_offset[at(peer)], words(peer, Buffer::receive),
                 there.receive_offset[at(rank)], own.send_size[at(peer)]);
            longest = std::max(longest, own.send_size[at(peer)]);
            if (stage == 2 || (stage == 0 && peer == forwarding_.leader_of(rank)))
                of_leaders += own.send_size[at(peer)] - (stage == 0 ? kSize : 0);
            ++sent_[{rank, peer}];
        }
    }

    // Who is waited for has sent.
    void check_receives(std::size_t stage) {
        for (Rank rank = 0; rank < layout_.ranks(); ++rank)
            for (const Rank peer : ops_[at(rank)].stages[stage].peers.receives) {
                CHECK(sent_[{peer, rank}] == 1);
                sent_.erase({peer, rank});
            }
        CHECK(sent_.empty());
    }

    Layout layout_;
    Forwarding forwarding_;
    std::vector<Forwarding::Op> ops_;
    std::vector<std::pair<std::vector<std::uint32_t>, std::vector<std::uint32_t>>> buffers_;
    std::map<std::pair<Rank, Rank>, int> sent_;
};

} // namespace

TEST_CASE("by way of leaders every message comes where it would without them") {
    for (const Layout& layout : layouts()) {
        CAPTURE(layout.ranks());
        CAPTURE(layout.nodes());
        REQUIRE_FALSE(Forwarding::refusal(layout));
        Machine machine(layout);
        machine.run();
        for (Rank rank = 0; rank < layout.ranks(); ++rank)
            for (Rank peer = 0; peer < layout.ranks(); ++peer) {
                if (peer == rank) continue;
                CAPTURE(rank);
                CAPTURE(peer);
                CHECK(machine.received(rank, peer) == Machine::word(peer, rank));
            }
        CHECK(machine.longest == machine.forwarding().largest());
        CHECK(machine.of_leaders == machine.forwarding().forwarded());
    }
}

TEST_CASE("between nodes only leaders send, once to each") {
    const Layout layout = Layout::blocks(12, 4);
    const Forwarding forwarding(layout, 8);
    for (Rank rank = 0; rank < layout.ranks(); ++rank) {
        const Forwarding::Op op = forwarding.of(rank);
        for (const std::size_t within : {std::size_t{0}, std::size_t{2}})
            for (const Rank peer : op.stages[within].peers.sends)
                CHECK(layout.node_of(peer) == layout.node_of(rank));
        CHECK(op.stages[1].peers.sends.size() == (rank % 4 == 0 ? 2 : 0));
        for (const Rank peer : op.stages[1].peers.sends) {
            CHECK(peer % 4 == 0);
            CHECK(op.stages[1].send_size[static_cast<std::size_t>(peer)] == 4 * 4 * 8);
        }
    }
}

TEST_CASE("what lies side by side is copied at once") {
    const Forwarding forwarding(Layout::blocks(12, 4), 8);
    const Forwarding::Op last = forwarding.of(11);
    // Behind it in the ring of ranks come the other nodes, before it its own.
    CHECK(last.stages[0].copies == std::vector<BufferCopy>{{Buffer::send, 9 * 8, Buffer::send, 128, 8},
                                                           {Buffer::send, 8, Buffer::send, 136, 8 * 8}});
    CHECK(last.copies == std::vector<BufferCopy>{{Buffer::receive, 128, Buffer::receive, 4 * 8, 8 * 8}});
}

TEST_CASE("where nothing would be forwarded there is no way by leaders") {
    CHECK(*Forwarding::refusal(Layout::blocks(4, 4)) ==
          "node-aware needs two nodes or more: within one it forwards nothing");
    CHECK(*Forwarding::refusal(Layout::blocks(4, 1)) ==
          "node-aware needs two ranks or more on a node: with one on each it forwards nothing");
    CHECK_FALSE(Forwarding::refusal(Layout({0, 0, 1})));
}
