// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/measure/credit_stream.hpp"

#include <algorithm>

#include "a2aperf/fabric/completion_level.hpp"
#include "a2aperf/job/stop_signal.hpp"
#include "a2aperf/measure/flow_modes.hpp"
#include "a2aperf/measure/stream_trouble.hpp"
#include "credit_stream_asking.hpp"
#include "credit_stream_untimed.hpp"
#include "credit_stream_words.hpp"
#include "threaded_stream.hpp"

namespace a2aperf {

// Of the peers' messages and credits.
template <class Mode>
std::int64_t CreditStream<Mode>::missing() const {
    std::int64_t due = 0;
    for (const Rank peer : peers_) due += due_[static_cast<std::size_t>(peer)];
    return due - received_ - credits_received_;
}

template <class Mode>
void CreditStream<Mode>::post_unposted() {
    if constexpr (!kHasWords)
        while (!is_sweeping_ && !unposted_.empty() && post_receive(unposted_.back())) unposted_.pop_back();
}

// Where messages are written nothing is posted for them.
template <class Mode>
inline bool CreditStream<Mode>::post_for_message(Incoming& stream, int place) {
    if constexpr (!kHasWords) {
        const Route from = route(stream, place_of(place), slot_to_receive(place));
        const ssize_t status = Mode::receive(kIsPooled ? either_ : context_, from, settings_.op);
        if (!is_started(status, "posting a receive", stream.from)) return false;
        if constexpr (!kIsPooled) taken_at_[static_cast<std::size_t>(place)] = stream.posted++;
    }
    return true;
}

// The receive that has just taken a message of the stream.
template <class Mode>
inline void CreditStream<Mode>::post_again(Incoming& stream, int place) {
    const std::int64_t taken = kIsPooled ? 0 : taken_at_[static_cast<std::size_t>(place)];
    if (unposted_.empty() && post_for_message(stream, place)) [[likely]]
        free_buffer(stream, taken);
    else
        unposted_.push_back({place, &stream});
}

template <class Mode>
bool CreditStream<Mode>::post_receive(const Unposted& unposted) {
    if constexpr (kHasWords) {
        return true;
    } else {
        const auto [place, frees] = unposted;
        std::int64_t taken = 0;
        if (place >= message_receives_) {
            const Route from = route(stream_of_credit(place), place_of(place), slot_to_receive(place));
            const ssize_t status = Mode::receive(kIsPooled ? either_ : credits_, from, settings_.op + 1);
            if (!is_started(status, "posting a receive", from.peer)) return false;
        } else {
            taken = taken_at_[static_cast<std::size_t>(place)];
            if (!post_for_message(*incoming_of_[static_cast<std::size_t>(place)], place)) return false;
        }
        if (frees != nullptr) free_buffer(*frees, taken);
        return true;
    }
}

template <class Mode>
inline bool CreditStream<Mode>::send_one(Outgoing& stream) {
    const int place = kIsFetched || leaves_out() ? stream.first + stream.next_there : stream.free.next();
    std::byte* const message = place_to_send(place);
    const auto number = static_cast<std::uint64_t>(stream.sent);
    if (is_numbered_at_once_) [[likely]] // all: a place keeps the number of the one before
        write_number_at_once(message, message_size_, number);
    else if (is_numbered_)
        write_number(memory_, message, message_size_, number);
    const Route to = route(stream, message, slot_to_send(place));
    ssize_t status = 0;
    if constexpr (kHasWords) {
        status = send_by_words(stream, to);
    } else {
        status = send(stream, to, label_);
    }
    if (!is_started(status, "sending", stream.to)) return false;
    bool may_follow = true;
    if constexpr (kHasWords) may_follow = note_sent(stream, place);
    if (leaves_out()) note_unasked(stream, place);
    ++stream.sent;
    if (!is_silent()) stream.free.take();
    return may_follow;
}

template <class Mode>
bool CreditStream<Mode>::send_messages(Outgoing& stream) {
    const std::int64_t full = stream.credit + settings_.window;
    const std::int64_t before = stream.sent;
    const std::int64_t left = allowed_ - sent_;
    std::int64_t end = settings_.most < 0 ? full : std::min(full, settings_.most);
    if (left < end - before) [[unlikely]]
        end = before + left;
    if (before < end) {
        if (stream.waiting_since != 0) [[unlikely]]
            note_wait(stream);
        if (sent_ == 0) moments_.begin = now_ns();
        bool has_room = true;
        if constexpr (kHasFlags) has_room = post_flags();
        while (has_room && stream.sent < end && has_place(stream)) has_room = send_one(stream);
        note_sends(stream, stream.sent - before);
    }
    if (stream.sent >= full && stream.sent != settings_.most && stream.waiting_since == 0)
        stream.waiting_since = now_ns();
    return stream.sent != before;
}

template <class Mode>
void CreditStream<Mode>::note_sends(const Outgoing& stream, std::int64_t count) {
    sent_ += count;
    started_[static_cast<std::size_t>(stream.to)] += count;
    if (sent_ == 0) moments_.begin = kNoMoment; // there may be no room for any until the end
    if (is_silent())
        counts_[0] = static_cast<std::uint64_t>(totals_[0] += count);
    else
        under_way_ += count;
}

template <class Mode>
void CreditStream<Mode>::note_wait(Outgoing& stream) {
    totals_[2] = std::max(totals_[2], now_ns() - stream.waiting_since);
    stream.waiting_since = 0;
}

template <class Mode>
void CreditStream<Mode>::return_credits(Incoming& stream) {
    stream.credits.hear(heard_of(stream));
    if (stream.credits.is_due(stream.freed)) tell(stream);
}

template <class Mode>
void CreditStream<Mode>::tell(Incoming& stream) {
    if (!stream.credits.may_tell(stream.freed)) return;
    if (!is_started(send_credit(stream), "returning a credit", stream.from)) return;
    // Of words the sender sees the values, and not how many there were.
    started_[static_cast<std::size_t>(stream.from)] += kHasWords ? stream.freed - stream.credits.told() : 1;
    stream.credits.tell(stream.freed);
}

template <class Mode>
ssize_t CreditStream<Mode>::send_credit(const Incoming& stream) {
    const auto value = static_cast<std::uint64_t>(stream.freed);
    if constexpr (kHasWords) {
        const std::size_t nth = stream.credits.next();
        return write_word(context_, stream.from, StreamWords::of_credit(context_.ranks, context_.self, nth), value);
    } else {
        std::byte* const place = credit_place();
        memory_.put(place, value);
        const Route to = route(stream, place, slot_to_receive(0)); // injected: the slot is not used
        return Mode::inject(credits_, to, Mode::label(credits_, settings_.op + 1));
    }
}

template <class Mode>
void CreditStream<Mode>::check_number(int place, Rank from, std::int64_t due) const {
    const auto wanted = static_cast<std::uint64_t>(due);
    const FoundNumber found = find_number(memory_, place_of(place), message_size_, wanted);
    if (found.begin != wanted)
        throw RunError(fmt::format("message {} of the stream from {} came where message {} was due", found.begin,
                                   job_.who(from), wanted),
                       EndReason::bad_data);
    if (!found.is_end_due)
        throw RunError(
            fmt::format("the end of message {} of the stream from {} is not what was sent", wanted, job_.who(from)),
            EndReason::bad_data);
}

template <class Mode>
void CreditStream<Mode>::pause() {
    until_pause_ = settings_.free_delay.every;
    if (is_ending_) return;
    // What came before is free, and nothing more is for so long; a signal to stop is not waited for.
    post_receives();
    for (Incoming& stream : in_) tell(stream);
    const Nanoseconds end = std::min(now_ns() + settings_.free_delay.time, end_);
    while (now_ns() < end && StopSignal::number() == 0) {
    }
}

template <class Mode>
inline void CreditStream<Mode>::take_message(Incoming& stream, int place) {
    if (--until_pause_ == 0) [[unlikely]]
        pause();
    constexpr bool kIsInOrder = kIsPooled || kHasFlags;
    const std::int64_t number = kIsInOrder ? stream.received : taken_at_[static_cast<std::size_t>(place)];
    if (sixteenth_of(static_cast<std::uint64_t>(number)) < sixteenths_) [[unlikely]]
        check_number(place, stream.from, number);
    ++stream.received;
    ++received_;
    if constexpr (kHasWords)
        free_in_order(stream, place);
    else
        post_again(stream, place);
}

template <class Mode>
void CreditStream<Mode>::take_credit(Outgoing& stream, int place) {
    stream.credit = std::max(stream.credit, static_cast<std::int64_t>(memory_.get(place_of(place))));
    ++credits_received_;
    const Unposted receive{place, nullptr};
    if (!unposted_.empty() || !post_receive(receive)) unposted_.push_back(receive);
}

template <class Mode>
inline void CreditStream<Mode>::take_send(int place) {
    if (leaves_out()) return take_asked(place);
    FreePlaces& free = outgoing_of_[static_cast<std::size_t>(place)]->free;
    if (free.is_full()) [[unlikely]]
        throw RunError("a send completed that was not to", EndReason::bad_data);
    free.put(place);
    --under_way_;
    if constexpr (kHasFlags)
        if (settings_.flag_behind == FlagBehind::delivery) (void)post_flag(flags_[static_cast<std::size_t>(place)]);
}

template <class Mode>
inline void CreditStream<Mode>::take(int place, std::uint64_t data) {
    if constexpr (kIsPooled) {
        const auto ranks = static_cast<std::uint64_t>(context_.ranks);
        if (const std::uint64_t source = data ^ data_; source < ranks && in_of_[source] >= 0)
            return take_message(in_[static_cast<std::size_t>(in_of_[source])], place);
        if (const std::uint64_t source = data ^ credit_data_; source < ranks && out_of_[source] >= 0)
            return take_credit(out_[static_cast<std::size_t>(out_of_[source])], place);
        throw RunError(fmt::format("a message came that nobody should send (data {:#x})", data),
                       EndReason::bad_data);
    }
    if (place < message_receives_) [[likely]]
        return take_message(*incoming_of_[static_cast<std::size_t>(place)], place);
    take_credit(stream_of_credit(place), place);
}

// Receives for which there was no room may find some now.
template <class Mode>
void CreditStream<Mode>::note_nothing(ssize_t status) {
    if (status != -FI_EAGAIN && status != -FI_EINTR && status != 0) fail_completion(status);
    post_receives();
}

template <class Mode>
void CreditStream<Mode>::take_entries(std::size_t count) {
    const Nanoseconds now = now_ns(); // one look at the clock for all of them
    if (is_silent() && noted_ != sent_) note_silent(now);
    if constexpr (!kHasWords)
        if (is_sweeping_) [[unlikely]]
            return take_swept(count);
    const std::int64_t received_before = received_, under_way_before = under_way_;
    for (const fi_cq_data_entry& entry : std::span(entries_).first(count)) {
        // Our own slots first: some providers flag the completion of a write that carries data like its arrival.
        const std::ptrdiff_t place = static_cast<const Slot*>(entry.op_context) - send_slots_;
        if (static_cast<std::size_t>(place) < static_cast<std::size_t>(sends_))
            take_send(static_cast<int>(place));
        else if constexpr (is_written(Mode::kArrival))
            take_data(entry);
        else
            take(static_cast<int>(place) + receives_, entry.data);
    }
    if (received_ != received_before) note_received(now);
    if (const std::int64_t sent = under_way_before - under_way_; sent != 0 && !is_silent()) {
        counts_[0] = static_cast<std::uint64_t>(totals_[0] += sent);
        moments_.send_done = now;
    }
    post_receives();
}

// Its own receives: all that was sent is done.
template <class Mode>
void CreditStream<Mode>::take_swept(std::size_t count) {
    for (const fi_cq_data_entry& entry : std::span(entries_).first(count)) {
        if (static_cast<const Slot*>(entry.op_context) >= send_slots_)
            throw RunError("a send completed that was not to", EndReason::bad_data);
        --left_;
    }
}

template <class Mode>
void CreditStream<Mode>::expect_sweep() {
    is_sweeping_ = true;
    left_ = kHasWords ? 0 : receives_;
    for (Outgoing& stream : out_) stream.to_take_up = settings_.window;
    for (Incoming& stream : in_) stream.to_take_up = kCredits;
}

template <class Mode>
bool CreditStream<Mode>::sweep() {
    if constexpr (kHasWords) {
        return true; // nothing was posted
    } else {
        TransferContext context = credits_;
        context.message_size = std::min(kCreditBytes, message_size_);
        bool is_done = left_ == 0;
        const auto take_up = [&](auto& stream, std::uint64_t op) {
            const Route to = route(stream, credit_place(), slot_to_receive(0));
            while (stream.to_take_up > 0 &&
                   is_started(Mode::inject(context, to, Mode::label(context, op)), "taking up a receive", to.peer))
                --stream.to_take_up;
            is_done = is_done && stream.to_take_up == 0;
        };
        for (Outgoing& stream : out_) take_up(stream, settings_.op);
        for (Incoming& stream : in_) take_up(stream, settings_.op + 1);
        return is_done;
    }
}

template class CreditStream<Tagged>;
template class CreditStream<Msg>;
template class CreditStream<WriteImm>;
template class CreditStream<Write>;
template class CreditStream<Read>;
template class CreditStream<Asking<Tagged>>;
template class CreditStream<Asking<Msg>>;
template class CreditStream<Asking<WriteImm>>;
template class CreditStream<Asking<Write>>;

StreamSettings settings_of_streams(const EngineParts& parts, const Offer& offer, Bytes size,
                                   std::span<const StreamPair> who) {
    StreamSettings settings;
    for (const StreamPair& pair : who) {
        if (pair.from == parts.job.rank()) settings.to.push_back(pair.to);
        if (pair.to == parts.job.rank()) settings.from.push_back(pair.from);
    }
    settings.matches_in_order = offer.matches_in_order();
    settings.completes_in_order = offer.completes_in_order();
    if (size > offer.ordered_write()) settings.flag_behind = FlagBehind::delivery;
    settings.op = parts.loop.next_op();
    (void)parts.loop.next_op(); // of the credits
    return settings;
}

std::unique_ptr<Flow> make_stream(const EngineParts& parts) {
    const Point& point = parts.point;
    const StreamPlan& stream = stream_of(point);
    const bool has_two = stream.threads == Threads::each;
    Channel& channel = has_two ? *parts.channels.front() : only_channel(parts.channels, "a stream");
    const Offer& offer = channel.domain().offer();
    StreamSettings settings = settings_of_streams(parts, offer, point.message_size, stream.who);
    settings.window = point.window;
    settings.most = stream.messages;
    settings.injects = injects_stream(offer, point);
    settings.free_delay = stream.free_delay;
    settings.cq_mod = stream.cq_mod;
    settings.completion_flags = FI_COMPLETION | flag_of(stream.completion);
    if (has_two) return make_threaded_stream(parts, settings);
    const bool gives_all = channel.endpoint().completions() == Completions::all;
    if (stream.asks() || !(gives_all || settings.injects))
        return AskingModes::make<CreditStream>(point.mode, parts.job, channel, point.message_size, settings);
    return StreamModes::make<CreditStream>(point.mode, parts.job, channel, point.message_size, settings);
}

} // namespace a2aperf
