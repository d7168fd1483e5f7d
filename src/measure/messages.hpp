// SPDX-License-Identifier: BSD-3-Clause
// The messages of a point over one channel: where they lie and, where they are cut, in which chunks.
#pragma once

#include <optional>

#include "a2aperf/measure/channel.hpp"
#include "a2aperf/plan/point.hpp"
#include "a2aperf/transfer/mode.hpp"
#include "message_chunks.hpp"

namespace a2aperf {

// The channel's buffers laid out for the messages of a point.
template <TransferMode Mode>
TransferContext context_of(Channel& channel, const Point& point) {
    if (point.is_cut()) { // with room for whole chunks, of which any receive can take any
        if (point.traffic) return channel.context(*point.traffic, ReceivePlaces::of_source, point.chunk);
        TransferContext context = channel.context(point.place_bytes());
        context.message_size = point.message_size;
        return context;
    }
    if (!point.traffic) return channel.context(point.message_size);
    return channel.context(*point.traffic, Mode::kArrival == Arrival::receive_with_data ? ReceivePlaces::of_any
                                                                                        : ReceivePlaces::of_source);
}

template <TransferMode Mode>
class Messages {
public:
    Messages(Channel& channel, const Point& point) : context_(context_of<Mode>(channel, point)) {
        if (point.is_cut()) chunks_.emplace(context_, point, Mode::kArrival == Arrival::receive_with_data);
    }

    // Of an exchange; valid as long as this is.
    const TransferContext& context() const { return chunks_ ? chunks_->context() : context_; }
    // What is sent and received in an exchange with these ranks: they themselves, or chunks by their indices.
    Peers of(const Peers& ranks) const {
        return chunks_ ? Peers{chunks_->to(ranks.sends), chunks_->from(ranks.receives)} : ranks;
    }

private:
    TransferContext context_;
    std::optional<MessageChunks> chunks_;
};

} // namespace a2aperf
