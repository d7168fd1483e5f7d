// SPDX-License-Identifier: BSD-3-Clause
// RDMA write with remote CQ data: the data names the op and the source; a place of its own for every peer.
#pragma once

#include <rdma/fi_endpoint.h>
#include <rdma/fi_rma.h>

#include "a2aperf/transfer/mode.hpp"

namespace a2aperf {

struct WriteImm {
    static constexpr std::string_view kName = "write-imm";
    static constexpr std::string_view kAbout = "fi_writedata into the peer's buffer; its completion queue tells";
    static constexpr std::uint64_t kCapabilities = FI_RMA | FI_WRITE | FI_REMOTE_WRITE | FI_MSG | FI_SEND | FI_RECV;
    static constexpr std::uint64_t kOrder = FI_ORDER_NONE;
    static constexpr Rights kRights{.source = FI_WRITE, .target = FI_REMOTE_WRITE};
    static constexpr ReceiveSpace kReceiveSpace = ReceiveSpace::per_peer;
    static constexpr Initiator kInitiator = Initiator::sender;
    static constexpr Arrival kArrival = Arrival::data; // receives are posted only where a write consumes one

    static std::uint64_t label(const TransferContext& context, std::uint64_t op) {
        return message_data(op, context.self);
    }

    // Receives no payload: it is what an arriving write consumes where FI_RX_CQ_DATA is set.
    static ssize_t receive(const TransferContext& context, const Route& from, std::uint64_t /*op*/) {
        return fi_recv(context.endpoint, nullptr, 0, nullptr, FI_ADDR_UNSPEC, &from.slot->context);
    }

    static ssize_t send(const TransferContext& context, const Route& to, std::uint64_t label) {
        return fi_writedata(context.endpoint, to.message, context.message_size, context.send_descriptor, label,
                            to.address, to.remote_address, to.remote_key, &to.slot->context);
    }

    static ssize_t inject(const TransferContext& context, const Route& to, std::uint64_t label) {
        return fi_inject_writedata(context.endpoint, to.message, context.message_size, label, to.address,
                                   to.remote_address, to.remote_key);
    }

    static ssize_t post(const TransferContext& context, const Route& to, std::uint64_t label, std::uint64_t flags) {
        const iovec bytes{to.message, context.message_size};
        void* descriptor = context.send_descriptor;
        const fi_rma_iov target{to.remote_address, context.message_size, to.remote_key};
        const fi_msg_rma message{&bytes, &descriptor, 1, to.address, &target, 1, &to.slot->context, label};
        return fi_writemsg(context.endpoint, &message, flags | FI_REMOTE_CQ_DATA);
    }
};

} // namespace a2aperf
