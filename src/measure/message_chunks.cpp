// SPDX-License-Identifier: BSD-3-Clause
#include "message_chunks.hpp"

#include <algorithm>

namespace a2aperf {

Bytes chunk_bytes(Bytes message, Bytes chunk, int number) {
    const Bytes before = chunk * static_cast<Bytes>(number);
    return before >= message ? 0 : std::min(chunk, message - before);
}

MessageChunks::MessageChunks(const TransferContext& whole, const Point& point, bool takes_any) : context_(whole) {
    const auto chunks = static_cast<int>(point.chunks());
    const auto ranks = static_cast<std::size_t>(whole.ranks);
    const auto of_each = static_cast<std::size_t>(chunks);
    const auto count = [&](Bytes message) { return static_cast<int>((message + point.chunk - 1) / point.chunk); };
    // Nobody asks for where a message lies at its target, or in its source, where that follows from the distance.
    const std::size_t* const target = whole.target_offset != nullptr ? whole.target_offset : whole.send_offset;
    const std::size_t* const source = whole.source_offset != nullptr ? whole.source_offset : whole.receive_offset;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        const auto peer = static_cast<Rank>(rank);
        counts_to_.push_back(count(whole.size_to(peer)));
        counts_from_.push_back(count(whole.size_from(peer)));
        for (std::size_t number = 0; number < of_each; ++number) {
            const std::size_t at = number * point.chunk;
            send_offset_.push_back(whole.send_offset[rank] + at);
            receive_offset_.push_back(whole.receive_offset[rank] + at);
            target_offset_.push_back(target[rank] + at);
            source_offset_.push_back(source[rank] + at);
            const auto n = static_cast<int>(number);
            send_size_.push_back(chunk_bytes(whole.size_to(peer), point.chunk, n));
            receive_size_.push_back(takes_any ? point.chunk : chunk_bytes(whole.size_from(peer), point.chunk, n));
        }
    }
    context_.chunks = chunks;
    context_.self = whole.self * chunks;
    context_.ranks = whole.ranks * chunks;
    context_.message_size = point.chunk;
    context_.send_offset = send_offset_.data();
    context_.receive_offset = receive_offset_.data();
    context_.target_offset = target_offset_.data();
    context_.source_offset = source_offset_.data();
    context_.send_size = send_size_.data();
    context_.receive_size = receive_size_.data();
}

std::vector<Rank> MessageChunks::indices(const std::vector<Rank>& peers, const std::vector<int>& counts) const {
    std::vector<Rank> all;
    for (const Rank peer : peers)
        for (int number = 0; number < counts[static_cast<std::size_t>(peer)]; ++number)
            all.push_back(peer * context_.chunks + number);
    return all;
}

} // namespace a2aperf
