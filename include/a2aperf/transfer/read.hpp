// SPDX-License-Identifier: BSD-3-Clause
// RDMA read: the receiver fetches each message out of its source's buffer, and the source never learns of it.
#pragma once

#include <rdma/fi_rma.h>

#include "a2aperf/transfer/mode.hpp"

namespace a2aperf {

struct Read {
    static constexpr std::string_view kName = "read";
    static constexpr std::string_view kAbout = "fi_read by the receiver, out of the peer's buffer";
    static constexpr std::uint64_t kCapabilities = FI_RMA | FI_READ | FI_REMOTE_READ;
    static constexpr std::uint64_t kOrder = FI_ORDER_NONE;
    static constexpr Rights kRights{.source = FI_REMOTE_READ, .target = FI_READ};
    static constexpr ReceiveSpace kReceiveSpace = ReceiveSpace::shareable;
    static constexpr Initiator kInitiator = Initiator::receiver;
    static constexpr Arrival kArrival = Arrival::read;

    static ssize_t receive(const TransferContext& context, const Route& from, std::uint64_t /*op*/) {
        return fi_read(context.endpoint, from.message, context.message_size, context.receive_descriptor,
                       from.address, from.remote_address, from.remote_key, &from.slot->context);
    }
};

} // namespace a2aperf
