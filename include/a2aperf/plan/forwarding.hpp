// SPDX-License-Identifier: BSD-3-Clause
// An all-to-all by way of one rank of each node, its leader: few large messages between nodes instead of many small
// ones. What each rank copies and sends for it, in three stages, follows from the layout and the message size
// alone.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "a2aperf/base/units.hpp"
#include "a2aperf/plan/layout.hpp"
#include "a2aperf/plan/message_steps.hpp"

namespace a2aperf {

enum class Buffer { send, receive };

// Bytes that a rank moves within its two message buffers.
struct BufferCopy {
    Buffer from_buffer;
    std::size_t from;
    Buffer to_buffer;
    std::size_t to;
    std::size_t size;
    bool operator==(const BufferCopy&) const = default;
};

// First copies, then messages.
struct ForwardingStage {
    std::vector<BufferCopy> copies;
    Peers peers;                                          // in the order of posting
    std::vector<Bytes> send_size, receive_size;           // [R], 0 = no message
    std::vector<std::size_t> send_offset, receive_offset; // in its own buffers, [R]
};

class Forwarding {
public:
    // On their node: ranks send their messages to it, and to the leader all others as one. Between leaders: as one
    // what their nodes have for each other. Then leaders give each rank of their node what came for it.
    static constexpr int kStages = 3;

    // Of one rank. Its messages lie where those of an exchange without leaders do: by the distance to the peer.
    struct Op {
        std::array<ForwardingStage, kStages> stages;
        std::vector<BufferCopy> copies; // behind the last stage
    };

    Forwarding(std::shared_ptr<const Layout> layout, Bytes message_size)
        : shared_(std::move(layout)), layout_(*shared_), message_size_(message_size) {}
    Forwarding(const Layout& layout, Bytes message_size)
        : Forwarding(std::make_shared<const Layout>(layout), message_size) {}

    // Why there is nothing to forward on this layout; nothing where there is.
    static std::optional<std::string> refusal(const Layout& layout);

    // The first rank of a node.
    Rank leader(int node) const { return layout_.rank_at()[static_cast<std::size_t>(node)].front(); }
    Rank leader_of(Rank rank) const { return leader(layout_.node_of(rank)); }
    const Layout& layout() const { return layout_; }

    Bytes largest() const;      // message of any stage
    Bytes buffer_bytes() const; // that each of the two message buffers of any rank needs
    Bytes forwarded() const; // bytes of an op that leaders take from ranks of their node or give to them for others

    Op of(Rank rank) const;

private:
    int ranks_on(int node) const { return layout_.ranks_on_node()[static_cast<std::size_t>(node)]; }
    Bytes blocks(int count) const { return static_cast<Bytes>(count) * message_size_; }
    std::size_t place_to(Rank rank, Rank peer) const; // in the send buffer
    std::size_t place_from(Rank rank, Rank peer) const;
    std::size_t behind_places() const; // where what is forwarded lies
    // In the order in which they lie in a block: so that what lies side by side in a buffer does in a block, too.
    std::vector<int> other_nodes(int node) const;
    Bytes to_leader(int node) const;                    // of one rank, its message for the leader included
    std::size_t gathered_at(int node, int local) const; // where the leader has that of a rank of its node

    void gather(Rank rank, Op& op) const;
    void exchange(Rank rank, Op& op) const;
    void scatter(Rank rank, Op& op) const;

    std::shared_ptr<const Layout> shared_; // by the points of a plan
    const Layout& layout_;
    Bytes message_size_;
};

} // namespace a2aperf
