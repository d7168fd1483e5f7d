// SPDX-License-Identifier: BSD-3-Clause
// A mode whose messages are cut: each chunk is a message to it, of a source of its own, as the context says.
#pragma once

#include "a2aperf/transfer/mode.hpp"
#include "a2aperf/transfer/sized.hpp"

namespace a2aperf {

// An op's label names the first chunk of its source; the n-th of a message is that of the n-th after it.
template <class Mode>
struct Chunked : Sized<Mode> {
    static ssize_t send(const TransferContext& context, const Route& to, std::uint64_t label) {
        return Sized<Mode>::send(context, to, label_of(context, to, label));
    }

    static ssize_t inject(const TransferContext& context, const Route& to, std::uint64_t label) {
        return Sized<Mode>::inject(context, to, label_of(context, to, label));
    }

    static ssize_t post(const TransferContext& context, const Route& to, std::uint64_t label, std::uint64_t flags) {
        return Sized<Mode>::post(context, to, label_of(context, to, label), flags);
    }

    // Each chunk has a flag of its own.
    static ssize_t tell(TransferContext context, Route to, std::uint64_t label) {
        context.self += to.peer % context.chunks;
        to.peer /= context.chunks;
        return Mode::tell(context, to, label);
    }

private:
    // A flag says which op it is of by its value, and which message by its place.
    static std::uint64_t label_of(const TransferContext& context, const Route& to, std::uint64_t label) {
        if constexpr (Mode::kArrival == Arrival::flag) return label;
        return label + static_cast<std::uint64_t>(to.peer % context.chunks);
    }
};

} // namespace a2aperf
