// SPDX-License-Identifier: BSD-3-Clause
// The messages of a point cut into chunks: where each lies, and how long it is. To an exchange each is a message of
// a rank of its own (transfer/context.hpp).
#pragma once

#include <cstddef>
#include <vector>

#include "a2aperf/plan/point.hpp"
#include "a2aperf/transfer/context.hpp"

namespace a2aperf {

class MessageChunks {
public:
    MessageChunks() = default; // nothing is cut
    // whole: of messages that have room for whole chunks each. takes_any: a receive may take any chunk.
    MessageChunks(const TransferContext& whole, const Point& point, bool takes_any);
    MessageChunks(MessageChunks&&) = default; // a context points to what is in the vectors, which stays
    MessageChunks& operator=(MessageChunks&&) = delete;

    const TransferContext& context() const { return context_; } // valid as long as this is
    // The chunks of the messages to and from each of these, those of a message one behind the other.
    std::vector<Rank> to(const std::vector<Rank>& peers) const { return indices(peers, counts_to_); }
    std::vector<Rank> from(const std::vector<Rank>& peers) const { return indices(peers, counts_from_); }

private:
    std::vector<Rank> indices(const std::vector<Rank>& peers, const std::vector<int>& counts) const;

    std::vector<int> counts_to_, counts_from_; // chunks of the message to and from each rank, [R]
    // [R x chunks]
    std::vector<std::size_t> send_offset_, receive_offset_, target_offset_, source_offset_;
    std::vector<Bytes> send_size_, receive_size_;
    TransferContext context_{};
};

// The bytes of a chunk by its number: all but the last of a message are full.
Bytes chunk_bytes(Bytes message, Bytes chunk, int number);

} // namespace a2aperf
