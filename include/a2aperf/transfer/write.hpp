// SPDX-License-Identifier: BSD-3-Clause
// RDMA write of which no completion tells the target: behind each message a flag of its own is written, the op's
// number, and the target polls its memory for it. The message's own last byte would do only where an endpoint
// orders the bytes of a write, which reliable datagram endpoints do not promise.
#pragma once

#include <rdma/fi_rma.h>

#include "a2aperf/transfer/mode.hpp"
#include "a2aperf/transfer/word.hpp"

namespace a2aperf {

struct Write {
    static constexpr std::string_view kName = "write";
    static constexpr std::string_view kAbout = "fi_write into the peer's buffer, then a flag that the peer polls";
    static constexpr std::uint64_t kCapabilities = FI_RMA | FI_WRITE | FI_REMOTE_WRITE;
    static constexpr std::uint64_t kOrder = FI_ORDER_WAW; // the flag behind its message
    static constexpr Rights kRights{.source = FI_WRITE, .target = FI_REMOTE_WRITE};
    static constexpr ReceiveSpace kReceiveSpace = ReceiveSpace::per_peer;
    static constexpr Initiator kInitiator = Initiator::sender;
    static constexpr Arrival kArrival = Arrival::flag;

    static std::uint64_t label(const TransferContext& /*context*/, std::uint64_t op) { return op; }

    static ssize_t send(const TransferContext& context, const Route& to, std::uint64_t /*label*/) {
        return fi_write(context.endpoint, to.message, context.message_size, context.send_descriptor, to.address,
                        to.remote_address, to.remote_key, &to.slot->context);
    }

    // The same, which completes when the target has the data.
    static ssize_t send_delivered(const TransferContext& context, const Route& to) {
        return post(context, to, 0, FI_DELIVERY_COMPLETE | FI_COMPLETION);
    }

    static ssize_t inject(const TransferContext& context, const Route& to, std::uint64_t /*label*/) {
        return fi_inject_write(context.endpoint, to.message, context.message_size, to.address, to.remote_address,
                               to.remote_key);
    }

    static ssize_t post(const TransferContext& context, const Route& to, std::uint64_t /*label*/,
                        std::uint64_t flags) {
        const iovec bytes{to.message, context.message_size};
        void* descriptor = context.send_descriptor;
        const fi_rma_iov target{to.remote_address, context.message_size, to.remote_key};
        const fi_msg_rma message{&bytes, &descriptor, 1, to.address, &target, 1, &to.slot->context, 0};
        return fi_writemsg(context.endpoint, &message, flags);
    }

    // The flag of a message, of which nothing completes here.
    static ssize_t tell(const TransferContext& context, const Route& to, std::uint64_t label) {
        return write_word(context, to.peer, static_cast<std::size_t>(context.self), label);
    }
};

} // namespace a2aperf
