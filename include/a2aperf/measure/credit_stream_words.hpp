// SPDX-License-Identifier: BSD-3-Clause
// The part of a stream that words in memory tell of (transfer/mode.hpp: tells_by_words()): its messages are written
// into the receiver's memory, or fetched out of the sender's.
#pragma once

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
    const auto there = [&](const std::vector<int>& stream_of_rank) {
        return job_.all_to_all(std::vector<std::int64_t>(stream_of_rank.begin(), stream_of_rank.end()));
    };
    const std::vector<std::int64_t> from_here = there(in_of_);
    const std::vector<std::int64_t> to_here = there(out_of_);
    // A rank that is sender or receiver alone (threaded_stream.hpp) has its one stream to itself.
    const auto first = [&](std::int64_t stream) {
        return static_cast<int>(std::max<std::int64_t>(stream, 0)) * settings_.window;
    };
    for (Outgoing& stream : out_) stream.first_there = first(from_here[static_cast<std::size_t>(stream.to)]);
    for (Incoming& stream : in_) stream.first_there = first(to_here[static_cast<std::size_t>(stream.from)]);
}

template <class Mode>
auto CreditStream<Mode>::flag_of_next(const Outgoing& stream) const -> Flag {
    return {stream.to, StreamWords::of_message(context_.ranks, stream.first_there + stream.next_there),
            static_cast<std::uint64_t>(stream.sent) + 1};
}

template <class Mode>
ssize_t CreditStream<Mode>::send_by_words(const Outgoing& stream, Route to) {
    if constexpr (kIsFetched) {
        return write_flag(flag_of_next(stream));
    } else {
        const Region::Remote& there = context_.remote[stream.to].receive;
        const int buffer = stream.first_there + stream.next_there;
        to.remote_address = there.address + static_cast<std::size_t>(buffer) * stride_;
        to.remote_key = there.key;
        if constexpr (kHasFlags)
            if (settings_.flag_behind == FlagBehind::delivery) return Mode::send_delivered(context_, to);
        const std::uint64_t label = kHasFlags ? 0 : message_data(settings_.op, buffer);
        return send(stream, to, label);
    }
}

// The next message, at this place of our own.
template <class Mode>
void CreditStream<Mode>::note_sent(Outgoing& stream, int place) {
    if constexpr (kHasFlags) {
        const Flag flag = flag_of_next(stream);
        if (settings_.flag_behind == FlagBehind::delivery)
            flags_[static_cast<std::size_t>(place)] = flag;
        else
            post_flag(flag);
    }
    if (++stream.next_there == settings_.window) stream.next_there = 0;
}

template <class Mode>
ssize_t CreditStream<Mode>::write_flag(const Flag& flag) {
    return write_word(context_, flag.peer, flag.word, flag.value);
}

template <class Mode>
bool CreditStream<Mode>::is_told(const Flag& flag) {
    return is_started(write_flag(flag), "writing a flag", flag.peer);
}

template <class Mode>
void CreditStream<Mode>::post_flag(const Flag& flag) {
    if (!is_told(flag)) untold_.push_back(flag); // at most one of each buffer: there is room
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
void CreditStream<Mode>::take_flags(int stream) {
    const Incoming& from = in_[static_cast<std::size_t>(stream)];
    for (;;) {
        const int place = from.first + from.next;
        if (words_->message(place) != static_cast<std::uint64_t>(from.received) + 1) break;
        take_message(stream, place);
    }
}

// Those that are to be fetched, in the order of their numbers. True where a read was posted.
template <class Mode>
bool CreditStream<Mode>::fetch(Incoming& stream) {
    const std::int64_t before = stream.posted;
    if constexpr (kIsFetched) {
        const Region::Remote& there = context_.remote[stream.from].send;
        for (;;) {
            const int place = stream.first + stream.next_to_fetch;
            if (words_->message(place) != static_cast<std::uint64_t>(stream.posted) + 1) break;
            const int buffer = stream.first_there + stream.next_to_fetch;
            Route from = route(stream.from, place_of(place), place);
            from.remote_address = there.address + static_cast<std::size_t>(buffer) * stride_;
            from.remote_key = there.key;
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
        for (int stream = 0; stream < static_cast<int>(std::ssize(in_)); ++stream) take_flags(stream);
        if (!untold_.empty()) (void)post_flags();
    }
    if (!has_news && received_ == before) return false;
    const Nanoseconds now = now_ns();
    if (is_silent() && noted_ != sent_) note_silent(now);
    if (received_ != before) moments_.receive_done = now;
    return true;
}

template <class Mode>
void CreditStream<Mode>::take_data(const fi_cq_data_entry& entry) {
    const std::uint64_t buffer = entry.data ^ message_data(settings_.op, 0);
    if ((entry.flags & FI_REMOTE_CQ_DATA) == 0 || buffer >= taken_at_.size())
        throw RunError(fmt::format("a message came that nobody should send (data {:#x})", entry.data),
                       EndReason::bad_data);
    const int stream = stream_of_[buffer];
    const Incoming& from = in_[static_cast<std::size_t>(stream)];
    if (taken_at_[buffer] - from.freed >= settings_.window)
        throw RunError(fmt::format("a message of {} came to a buffer that was not free", job_.who(from.from)),
                       EndReason::bad_data);
    take_message(stream, static_cast<int>(buffer));
}

template <class Mode>
void CreditStream<Mode>::free_in_order(Incoming& stream, int place) {
    taken_at_[static_cast<std::size_t>(place)] += settings_.window;
    for (;;) {
        const int due = stream.first + stream.next;
        if (taken_at_[static_cast<std::size_t>(due)] <= stream.freed) break;
        ++stream.freed;
        if (++stream.next == settings_.window) stream.next = 0;
    }
}

} // namespace a2aperf
