// SPDX-License-Identifier: BSD-3-Clause
// Tagged send and receive: the tag names the op and the source; a receive is posted for every peer.
#pragma once

#include <rdma/fi_tagged.h>

#include "a2aperf/transfer/mode.hpp"

namespace a2aperf {

struct Tagged {
    static constexpr std::string_view kName = "tagged";
    static constexpr std::string_view kAbout = "fi_tsend to a receive posted for each peer";
    static constexpr std::uint64_t kCapabilities = FI_TAGGED | FI_SEND | FI_RECV;
    static constexpr std::uint64_t kOrder = FI_ORDER_NONE;
    static constexpr Rights kRights{};
    static constexpr ReceiveSpace kReceiveSpace = ReceiveSpace::shareable;
    static constexpr Initiator kInitiator = Initiator::sender;
    static constexpr Arrival kArrival = Arrival::receive; // its slot names the source

    // 24 bits of op above 24 bits of source: the tags of all providers have at least 48.
    static std::uint64_t tag(std::uint64_t op, Rank source) {
        return (op & kSourceMask) << kSourceBits | static_cast<std::uint64_t>(source);
    }

    // What all messages of an op that this rank sends carry.
    static std::uint64_t label(const TransferContext& context, std::uint64_t op) { return tag(op, context.self); }

    static ssize_t receive(const TransferContext& context, const Route& from, std::uint64_t op) {
        return receive_into(context, from, op, from.message, context.receive_descriptor);
    }

    static ssize_t receive_into(const TransferContext& context, const Route& from, std::uint64_t op,
                                std::byte* space, void* descriptor) {
        return fi_trecv(context.endpoint, space, context.message_size, descriptor, from.address, tag(op, from.peer),
                        0, &from.slot->context);
    }

    static ssize_t send(const TransferContext& context, const Route& to, std::uint64_t label) {
        return fi_tsend(context.endpoint, to.message, context.message_size, context.send_descriptor, to.address,
                        label, &to.slot->context);
    }

    static ssize_t inject(const TransferContext& context, const Route& to, std::uint64_t label) {
        return fi_tinject(context.endpoint, to.message, context.message_size, to.address, label);
    }

    static ssize_t post(const TransferContext& context, const Route& to, std::uint64_t label, std::uint64_t flags) {
        const iovec bytes{to.message, context.message_size};
        void* descriptor = context.send_descriptor;
        const fi_msg_tagged message{&bytes, &descriptor, 1, to.address, label, 0, &to.slot->context, 0};
        return fi_tsendmsg(context.endpoint, &message, flags);
    }

    // Takes a message of this op, whoever sent it.
    static ssize_t receive_any(const TransferContext& context, std::uint64_t op, std::byte* space, void* descriptor,
                               Slot* slot) {
        return fi_trecv(context.endpoint, space, context.message_size, descriptor, FI_ADDR_UNSPEC, tag(op, 0),
                        kSourceMask, &slot->context);
    }
};

} // namespace a2aperf
