// SPDX-License-Identifier: BSD-3-Clause
// A mode whose messages have a size each: those of traffic that is not uniform.
#pragma once

#include "a2aperf/transfer/mode.hpp"

namespace a2aperf {

// What the context says of all messages is what it says of this one: once inlined, nothing is copied.
template <class Mode>
struct Sized : Mode {
    static ssize_t receive(const TransferContext& context, const Route& from, std::uint64_t op) {
        return Mode::receive(of_size(context, context.receive_size[from.peer]), from, op);
    }

    static ssize_t send(const TransferContext& context, const Route& to, std::uint64_t label) {
        return Mode::send(of_size(context, context.send_size[to.peer]), to, label);
    }

    static ssize_t inject(const TransferContext& context, const Route& to, std::uint64_t label) {
        return Mode::inject(of_size(context, context.send_size[to.peer]), to, label);
    }

    static ssize_t post(const TransferContext& context, const Route& to, std::uint64_t label, std::uint64_t flags) {
        return Mode::post(of_size(context, context.send_size[to.peer]), to, label, flags);
    }

    static ssize_t send_delivered(const TransferContext& context, const Route& to) {
        return Mode::send_delivered(of_size(context, context.send_size[to.peer]), to);
    }

private:
    static TransferContext of_size(TransferContext context, std::size_t size) {
        context.message_size = size;
        return context;
    }
};

} // namespace a2aperf
