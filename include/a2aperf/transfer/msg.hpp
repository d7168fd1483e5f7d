// SPDX-License-Identifier: BSD-3-Clause
// Send and receive without tags: a receive takes any message, and the data with it name the op and the source. (net
// ignores the source that a receive is meant for, whatever it says of FI_DIRECTED_RECV.)
#pragma once

#include "a2aperf/transfer/mode.hpp"

namespace a2aperf {

struct Msg {
    static constexpr std::string_view kName = "msg";
    static constexpr std::string_view kAbout = "fi_senddata to any posted receive; its completion tells";
    static constexpr std::uint64_t kCapabilities = FI_MSG | FI_SEND | FI_RECV | FI_REMOTE_CQ_DATA;
    static constexpr std::uint64_t kOrder = FI_ORDER_NONE;
    static constexpr Rights kRights{};
    static constexpr ReceiveSpace kReceiveSpace = ReceiveSpace::shareable;
    static constexpr Initiator kInitiator = Initiator::sender;
    static constexpr Arrival kArrival = Arrival::receive_with_data;

    static std::uint64_t label(const TransferContext& context, std::uint64_t op) {
        return message_data(op, context.self);
    }

    static ssize_t receive(const TransferContext& context, const Route& from, std::uint64_t op) {
        return receive_any(context, op, from.message, context.receive_descriptor, from.slot);
    }

    static ssize_t send(const TransferContext& context, const Route& to, std::uint64_t label) {
        return fi_senddata(context.endpoint, to.message, context.message_size, context.send_descriptor, label,
                           to.address, &to.slot->context);
    }

    static ssize_t inject(const TransferContext& context, const Route& to, std::uint64_t label) {
        return fi_injectdata(context.endpoint, to.message, context.message_size, label, to.address);
    }

    static ssize_t post(const TransferContext& context, const Route& to, std::uint64_t label, std::uint64_t flags) {
        const iovec bytes{to.message, context.message_size};
        void* descriptor = context.send_descriptor;
        const fi_msg message{&bytes, &descriptor, 1, to.address, &to.slot->context, label};
        return fi_sendmsg(context.endpoint, &message, flags | FI_REMOTE_CQ_DATA);
    }

    static ssize_t receive_any(const TransferContext& context, std::uint64_t /*op*/, std::byte* space,
                               void* descriptor, Slot* slot) {
        return fi_recv(context.endpoint, space, context.message_size, descriptor, FI_ADDR_UNSPEC, &slot->context);
    }
};

} // namespace a2aperf
