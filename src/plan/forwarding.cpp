// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/plan/forwarding.hpp"

#include <algorithm>
#include <map>
#include <span>

#include "a2aperf/plan/traffic.hpp"

namespace a2aperf {
namespace {

// As one with the copy before, where both ends go on there.
void add(std::vector<BufferCopy>& copies, const BufferCopy& next) {
    if (!copies.empty()) {
        BufferCopy& last = copies.back();
        if (last.from_buffer == next.from_buffer && last.to_buffer == next.to_buffer &&
            last.from + last.size == next.from && last.to + last.size == next.to) {
            last.size += next.size;
            return;
        }
    }
    copies.push_back(next);
}

void send(ForwardingStage& stage, Rank peer, std::size_t at, Bytes size) {
    stage.peers.sends.push_back(peer);
    stage.send_offset[static_cast<std::size_t>(peer)] = at;
    stage.send_size[static_cast<std::size_t>(peer)] = size;
}

void receive(ForwardingStage& stage, Rank peer, std::size_t at, Bytes size) {
    stage.peers.receives.push_back(peer);
    stage.receive_offset[static_cast<std::size_t>(peer)] = at;
    stage.receive_size[static_cast<std::size_t>(peer)] = size;
}

// The last one first.
std::vector<int> backwards(std::vector<int> numbers) {
    std::ranges::reverse(numbers);
    return numbers;
}

} // namespace

std::optional<std::string> Forwarding::refusal(const Layout& layout) {
    if (layout.nodes() == 1) return "node-aware needs two nodes or more: within one it forwards nothing";
    if (layout.nodes() == layout.ranks())
        return "node-aware needs two ranks or more on a node: with one on each it forwards nothing";
    return std::nullopt;
}

std::size_t Forwarding::place_to(Rank rank, Rank peer) const {
    return blocks((peer - rank + layout_.ranks()) % layout_.ranks());
}

std::size_t Forwarding::place_from(Rank rank, Rank peer) const {
    return blocks((rank - peer + layout_.ranks()) % layout_.ranks());
}

std::size_t Forwarding::behind_places() const {
    return message_room(blocks(layout_.ranks()));
}

std::vector<int> Forwarding::other_nodes(int node) const {
    std::vector<int> others;
    for (int ahead = 1; ahead < layout_.nodes(); ++ahead) others.push_back((node + ahead) % layout_.nodes());
    return others;
}

Bytes Forwarding::to_leader(int node) const {
    return blocks(layout_.ranks() - ranks_on(node) + 1);
}

std::size_t Forwarding::gathered_at(int node, int local) const {
    return behind_places() + static_cast<std::size_t>(local - 1) * message_room(to_leader(node));
}

Bytes Forwarding::largest() const {
    std::vector<int> counts = layout_.ranks_on_node();
    std::ranges::sort(counts, std::greater<>());
    Bytes most = blocks(counts[0] * (counts.size() > 1 ? counts[1] : 1));
    for (int node = 0; node < layout_.nodes(); ++node)
        if (ranks_on(node) > 1) most = std::max(most, to_leader(node));
    return most;
}

Bytes Forwarding::buffer_bytes() const {
    std::map<int, Bytes> nodes; // by how many ranks they have
    for (const int count : layout_.ranks_on_node()) ++nodes[count];
    Bytes most = 0;
    for (const auto& [ranks, here] : nodes) {
        Bytes between = 0;
        for (const auto& [others, there] : nodes)
            between += (there - (others == ranks ? 1 : 0)) * message_room(blocks(ranks * others));
        const Bytes of_rank = message_room(blocks(layout_.ranks() - ranks + 1));
        most = std::max({most, between, of_rank, static_cast<Bytes>(ranks - 1) * of_rank});
    }
    return behind_places() + most;
}

Bytes Forwarding::forwarded() const {
    Bytes all = 0;
    for (const int count : layout_.ranks_on_node())
        all += 2 * static_cast<Bytes>(count - 1) * blocks(layout_.ranks() - count);
    return all;
}

Forwarding::Op Forwarding::of(Rank rank) const {
    Op op;
    const auto ranks = static_cast<std::size_t>(layout_.ranks());
    for (ForwardingStage& stage : op.stages) {
        stage.send_size = stage.receive_size = std::vector<Bytes>(ranks);
        stage.send_offset = stage.receive_offset = std::vector<std::size_t>(ranks);
    }
    gather(rank, op);
    if (rank == leader_of(rank)) exchange(rank, op);
    scatter(rank, op);
    return op;
}

// A block for the leader: its own message, then those for the ranks of each other node.
void Forwarding::gather(Rank rank, Op& op) const {
    const int node = layout_.node_of(rank);
    const auto& here = layout_.rank_at()[static_cast<std::size_t>(node)];
    const int count = ranks_on(node);
    ForwardingStage& stage = op.stages[0];
    const int own = layout_.local_index(rank);
    for (int ahead = 1; ahead < count; ++ahead) {
        const int target = (own + ahead) % count;
        const int source = (own - ahead + count) % count;
        const Rank to = here[static_cast<std::size_t>(target)];
        const Rank from = here[static_cast<std::size_t>(source)];
        if (target == 0)
            send(stage, to, behind_places(), to_leader(node));
        else
            send(stage, to, place_to(rank, to), message_size_);
        if (own == 0)
            receive(stage, from, gathered_at(node, source), to_leader(node));
        else
            receive(stage, from, place_from(rank, from), message_size_);
    }
    if (own == 0) return;
    std::size_t at = behind_places();
    const auto pack = [&](Rank peer) {
        add(stage.copies, {Buffer::send, place_to(rank, peer), Buffer::send, at, message_size_});
        at += message_size_;
    };
    pack(here.front());
    for (const int other : other_nodes(node))
        for (const Rank peer : layout_.rank_at()[static_cast<std::size_t>(other)]) pack(peer);
}

// Of leaders: for each other node, of one rank after another, the last one first, what it has for the ranks there.
void Forwarding::exchange(Rank rank, Op& op) const {
    const int node = layout_.node_of(rank);
    const auto& here = layout_.rank_at()[static_cast<std::size_t>(node)];
    ForwardingStage& stage = op.stages[1];
    for (int local = 1; local < ranks_on(node); ++local)
        add(stage.copies, {Buffer::receive, gathered_at(node, local), Buffer::receive,
                           place_from(rank, here[static_cast<std::size_t>(local)]), message_size_});

    std::size_t at = behind_places();
    std::size_t ahead = message_size_; // in a block of a rank: the messages for nodes before this one
    for (const int other : other_nodes(node)) {
        const Bytes for_each = blocks(ranks_on(other));
        send(stage, leader(other), at, for_each * static_cast<Bytes>(ranks_on(node)));
        std::size_t to = at;
        for (int local = ranks_on(node) - 1; local > 0; --local) {
            add(stage.copies, {Buffer::receive, gathered_at(node, local) + ahead, Buffer::send, to, for_each});
            to += for_each;
        }
        for (const Rank peer : layout_.rank_at()[static_cast<std::size_t>(other)]) {
            add(stage.copies, {Buffer::send, place_to(rank, peer), Buffer::send, to, message_size_});
            to += message_size_;
        }
        ahead += for_each;
        at += message_room(for_each * static_cast<Bytes>(ranks_on(node)));
    }
    at = behind_places();
    for (const int other : backwards(other_nodes(node))) {
        const Bytes size = blocks(ranks_on(other) * ranks_on(node));
        receive(stage, leader(other), at, size);
        at += message_room(size);
    }
}

// A block of the leader for each rank: from the nodes behind its own on, of the last rank of each first.
void Forwarding::scatter(Rank rank, Op& op) const {
    const int node = layout_.node_of(rank);
    const auto& here = layout_.rank_at()[static_cast<std::size_t>(node)];
    ForwardingStage& stage = op.stages[2];
    const int count = ranks_on(node);
    const int own = layout_.local_index(rank);
    const Bytes block = blocks(layout_.ranks() - count);
    const std::vector<int> others = backwards(other_nodes(node));

    // each(rank that a message is from, where it lies behind the places: of a leader among all for its node)
    const auto each = [&](int local, auto act) {
        std::size_t at = behind_places();
        for (const int other : others) {
            int before = 0;
            for (const Rank source : backwards(layout_.rank_at()[static_cast<std::size_t>(other)]))
                act(source, at + blocks(before++ * count + local));
            at += message_room(blocks(ranks_on(other) * count));
        }
    };
    if (own == 0) {
        std::size_t to = behind_places();
        for (int local = 1; local < count; ++local) {
            send(stage, here[static_cast<std::size_t>(local)], to, block);
            std::size_t at = to;
            each(local, [&](Rank, std::size_t from) {
                add(stage.copies, {Buffer::receive, from, Buffer::send, at, message_size_});
                at += message_size_;
            });
            to += message_room(block);
        }
        each(0, [&](Rank source, std::size_t from) {
            add(op.copies, {Buffer::receive, from, Buffer::receive, place_from(rank, source), message_size_});
        });
        return;
    }
    receive(stage, here.front(), behind_places(), block);
    std::size_t from = behind_places();
    for (const int other : others) {
        for (const Rank source : backwards(layout_.rank_at()[static_cast<std::size_t>(other)])) {
            add(op.copies, {Buffer::receive, from, Buffer::receive, place_from(rank, source), message_size_});
            from += message_size_;
        }
    }
}

} // namespace a2aperf
