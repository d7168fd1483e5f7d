// SPDX-License-Identifier: BSD-3-Clause
// The part of a stream whose sends say by flags of their own whether they complete, and what that means.
#pragma once

#include "a2aperf/measure/credit_stream.hpp"

namespace a2aperf {

template <class Mode>
inline ssize_t CreditStream<Mode>::send(const Outgoing& stream, const Route& to, std::uint64_t label) {
    if constexpr (kIsFetched)
        return 0; // it sends nothing
    else if constexpr (kAsks)
        return Mode::post(context_, to, label, asks_next(stream) ? settings_.completion_flags : 0);
    else
        return settings_.injects ? Mode::inject(context_, to, label) : Mode::send(context_, to, label);
}

template <class Mode>
void CreditStream<Mode>::open_turns() {
    is_awaited_.resize(static_cast<std::size_t>(sends_));
    is_freed_.resize(static_cast<std::size_t>(message_receives_));
}

// Where some sends do not complete: of the message that has just been sent.
template <class Mode>
void CreditStream<Mode>::note_unasked(Outgoing& stream, int place) {
    if (asks_next(stream)) {
        is_awaited_[static_cast<std::size_t>(place)] = 1;
        ++under_way_;
        stream.unasked = 0;
    } else {
        ++stream.unasked;
    }
    if constexpr (!kHasWords)
        if (++stream.next_there == settings_.window) stream.next_there = 0;
}

template <class Mode>
void CreditStream<Mode>::take_asked(int place) {
    std::int8_t& is_awaited = is_awaited_[static_cast<std::size_t>(place)];
    if (is_awaited == 0) throw RunError("a send completed that was not to", EndReason::bad_data);
    is_awaited = 0;
    --under_way_;
    ++completions_;
}

// Of the message with this number. Where any receive takes any message, it is unknown, and they complete in order.
template <class Mode>
inline void CreditStream<Mode>::free_buffer(Incoming& stream, std::int64_t number) {
    if (!kIsPooled && leaves_out())
        free_in_turn(stream, number);
    else
        ++stream.freed;
}

// A receive that takes a sender's nth message was posted as its nth.
template <class Mode>
void CreditStream<Mode>::free_in_turn(Incoming& stream, std::int64_t number) {
    const std::int64_t ahead = number - stream.freed;
    if (ahead >= settings_.window)
        throw RunError(fmt::format("receives took messages of {} out of order", job_.who(stream.from)),
                       EndReason::bad_data);
    const auto wrapped = [&](std::int64_t at) { return at < settings_.window ? at : at - settings_.window; };
    const auto is_freed = [&](std::int64_t at) -> std::int8_t& {
        return is_freed_[static_cast<std::size_t>(stream.first) + static_cast<std::size_t>(wrapped(at))];
    };
    is_freed(stream.next + ahead) = 1;
    while (is_freed(stream.next) != 0) {
        is_freed(stream.next) = 0;
        ++stream.freed;
        stream.next = static_cast<int>(wrapped(stream.next + 1));
    }
}

} // namespace a2aperf
