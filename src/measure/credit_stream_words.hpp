// SPDX-License-Identifier: BSD-3-Clause
// The part of a stream that words in memory tell of (transfer/mode.hpp: tells_by_words()): its messages are written
// into the receiver's memory, or fetched out of the sender's.
#pragma once

#include <rdma/fi_rma.h>

#include "a2aperf/measure/credit_stream.hpp"
#include "a2aperf/transfer/word.hpp"

namespace a2aperf {

template <class Mode>
void CreditStream<Mode>::open_buffers() {
    words_.emplace(context_.flags, context_.ranks, message_receives_);
    flags_.resize(static_cast<std::size_t>(sends_));
    untold_.reserve(flags_.size());
    for (int place = 0; place < message_receives_; ++place)
        taken_at_[static_cast<std::size_t>(place)] = place % settings_.window;
    const auto at_peers = [&](const std::vector<int>& stream_of_rank) {
        return job_.all_to_all(std::vector<std::int64_t>(stream_of_rank.begin(), stream_of_rank.end()));
    };
    const std::vector<std::int64_t> from_here = at_peers(in_of_);
    const std::vector<std::int64_t> to_here = at_peers(out_of_);
    // A rank that is sender or receiver alone (threaded_stream.hpp) has its one stream to itself.
    const auto first = [&](std::int64_t stream) {
        return static_cast<int>(std::max<std::int64_t>(stream, 0)) * settings_.window;
    };
    const auto from = [](Region::Remote all, std::size_t offset) {
        all.address += offset;
        return all;
    };
    for (Outgoing& stream : out_) {
        const RemoteBuffers& there = context_.remote[stream.to];
        stream.first_there = first(from_here[static_cast<std::size_t>(stream.to)]);
        stream.buffers = from(there.receive, static_cast<std::size_t>(stream.first_there) * stride_);
        stream.words =
            from(there.flags, StreamWords::of_message(context_.ranks, stream.first_there) * sizeof(std::uint64_t));
    }
    for (Incoming& stream : in_) {
        const int first_there = first(to_here[static_cast<std::size_t>(stream.from)]);
        stream.buffers = from(context_.remote[stream.from].send, static_cast<std::size_t>(first_there) * stride_);
    }
}

template <class Mode>
inline ssize_t CreditStream<Mode>::send_by_words(const Outgoing& stream, Route to) {
    if constexpr (kIsFetched) {
        return write_flag(flag_of_next(stream));
    } else {
        to.remote_address = stream.buffers.address + static_cast<std::size_t>(stream.next_there) * stride_;
        to.remote_key = stream.buffers.key;
        if constexpr (kHasFlags)
            if (settings_.flag_behind == FlagBehind::delivery) [[unlikely]]
                return Mode::send_delivered(context_, to);
        const int buffer = stream.first_there + stream.next_there;
        return send(stream, to, kHasFlags ? 0 : data_ | static_cast<std::uint64_t>(buffer));
    }
}

// The next message, at this place of our own. False when its flag found no room.
template <class Mode>
inline bool CreditStream<Mode>::note_sent(Outgoing& stream, int place) {
    bool has_room = true;
    if constexpr (kHasFlags) {
        if (settings_.flag_behind == FlagBehind::delivery) [[unlikely]]
            flags_[static_cast<std::size_t>(place)] = flag_of_next(stream);
        else
            has_room = post_flag(flag_of_next(stream));
    }
    if (++stream.next_there == settings_.window) stream.next_there = 0;
    return has_room;
}

template <class Mode>
ssize_t CreditStream<Mode>::write_flag(const Flag& flag) {
    // As write_word(), with what holds for all flags of the stream looked up once.
    const Outgoing& to = *flag.stream;
    const auto offset = static_cast<std::size_t>(flag.buffer) * sizeof flag.value;
    return fi_inject_write(context_.endpoint, &flag.value, sizeof flag.value, to.address, to.words.address + offset,
                           to.words.key);
}

template <class Mode>
bool CreditStream<Mode>::is_told(const Flag& flag) {
    return is_started(write_flag(flag), "writing a flag", flag.stream->to);
}

template <class Mode>
inline bool CreditStream<Mode>::post_flag(const Flag& flag) {
    if (is_told(flag)) [[likely]]
        return true;
    put_off(flag);
    return false;
}

template <class Mode>
bool CreditStream<Mode>::post_flags() {
    while (!untold_.empty()) {
        if (!is_told(untold_.back())) return false;
        untold_.pop_back();
    }
    return true;
}

template <class Mode>
bool CreditStream<Mode>::take_credits(Outgoing& stream) {
    const std::int64_t before = stream.credit;
    for (;;) {
        const auto value = static_cast<std::int64_t>(words_->credit(stream.to, stream.next_credit));
        if (value <= stream.credit) break; // of an earlier round
        credits_received_ += value - stream.credit;
        stream.credit = value;
        stream.next_credit = (stream.next_credit + 1) % kCredits;
    }
    return stream.credit != before;
}

// In the order of their numbers.
template <class Mode>
inline void CreditStream<Mode>::take_flags(Incoming& stream) {
    for (;;) {
        const int place = stream.first + stream.next;
        if (words_->message(place) != static_cast<std::uint64_t>(stream.received) + 1) break;
        take_message(stream, place);
    }
}

// Those that are to be fetched, in the order of their numbers. True where a read was posted.
template <class Mode>
bool CreditStream<Mode>::fetch(Incoming& stream) {
    const std::int64_t before = stream.posted;
    if constexpr (kIsFetched) {
        for (;;) {
            const int place = stream.first + stream.next_to_fetch;
            if (words_->message(place) != static_cast<std::uint64_t>(stream.posted) + 1) break;
            Route from = route(stream, place_of(place), slot_to_receive(place));
            from.remote_address = stream.buffers.address + static_cast<std::size_t>(stream.next_to_fetch) * stride_;
            from.remote_key = stream.buffers.key;
            if (!is_started(Mode::receive(context_, from, settings_.op), "reading", stream.from)) break;
            ++stream.posted;
            if (++stream.next_to_fetch == settings_.window) stream.next_to_fetch = 0;
        }
    }
    return stream.posted != before;
}

template <class Mode>
bool CreditStream<Mode>::look_at_words() {
    bool has_news = false;
    for (Outgoing& stream : out_) has_news |= take_credits(stream);
    for (Incoming& stream : in_) has_news |= fetch(stream);
    const std::int64_t before = received_;
    if constexpr (kHasFlags) {
        for (Incoming& stream : in_) take_flags(stream);
        if (!untold_.empty()) (void)post_flags();
    }
    if (!has_news && received_ == before) return false;
    const Nanoseconds now = now_ns();
    if (is_silent() && noted_ != sent_) note_silent(now);
    if (received_ != before) note_received(now);
    return true;
}

template <class Mode>
inline void CreditStream<Mode>::take_data(const fi_cq_data_entry& entry) {
    const std::uint64_t buffer = entry.data ^ data_;
    if ((entry.flags & FI_REMOTE_CQ_DATA) == 0 || buffer >= static_cast<std::uint64_t>(message_receives_))
        throw RunError(fmt::format("a message came that nobody should send (data {:#x})", entry.data),
                       EndReason::bad_data);
    Incoming& stream = *incoming_of_[buffer];
    if (taken_at_[buffer] - stream.freed >= settings_.window)
        throw RunError(fmt::format("a message of {} came to a buffer that was not free", job_.who(stream.from)),
                       EndReason::bad_data);
    take_message(stream, static_cast<int>(buffer));
}

// A buffer waits for those of earlier numbers. Flags are looked for in that order.
template <class Mode>
inline void CreditStream<Mode>::free_in_order(Incoming& stream, int place) {
    const auto free_next = [&] {
        ++stream.freed;
        if (++stream.next == settings_.window) stream.next = 0;
    };
    if constexpr (kHasFlags) {
        free_next();
    } else {
        taken_at_[static_cast<std::size_t>(place)] += settings_.window;
        const auto is_next_taken = [&] {
            const int next = stream.first + stream.next;
            return taken_at_[static_cast<std::size_t>(next)] > stream.freed;
        };
        while (is_next_taken()) free_next();
    }
}

} // namespace a2aperf
