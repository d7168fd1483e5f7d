// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/measure/credit_stream.hpp"

#include <algorithm>

#include "a2aperf/fabric/completion_level.hpp"
#include "a2aperf/job/stop_signal.hpp"
#include "a2aperf/measure/credit_stream_asking.hpp"
#include "a2aperf/measure/credit_stream_words.hpp"
#include "a2aperf/measure/flow_modes.hpp"
#include "a2aperf/measure/stream_trouble.hpp"
#include "a2aperf/measure/threaded_stream.hpp"
#include "credit_stream_untimed.hpp"

namespace a2aperf {

// Of the peers' messages and credits.
template <class Mode>
std::int64_t CreditStream<Mode>::missing() const {
    std::int64_t due = 0;
    for (const Rank peer : peers_) due += due_[static_cast<std::size_t>(peer)];
    return due - received_ - credits_received_;
}

template <class Mode>
void CreditStream<Mode>::post_receives() {
    if constexpr (!kHasWords)
        while (!is_sweeping_ && !unposted_.empty() && post_receive(unposted_.back())) unposted_.pop_back();
}

// Where messages are written nothing is posted for them.
template <class Mode>
bool CreditStream<Mode>::post_for_message(Incoming& stream, int place) {
    if constexpr (!kHasWords) {
        const Route from = route(stream.from, place_of(place), place);
        const ssize_t status = Mode::receive(kIsPooled ? either_ : context_, from, settings_.op);
        if (!is_started(status, "posting a receive", stream.from)) return false;
        taken_at_[static_cast<std::size_t>(place)] = stream.posted++;
    }
    return true;
}

// The receive that has just taken a message of the stream.
template <class Mode>
void CreditStream<Mode>::post_again(int stream, int place) {
    if constexpr (!kIsPooled) { // the place is the stream's own
        Incoming& from = in_[static_cast<std::size_t>(stream)];
        const std::int64_t taken = taken_at_[static_cast<std::size_t>(place)];
        if (unposted_.empty() && post_for_message(from, place)) [[likely]]
            return free_buffer(from, taken);
    }
    unposted_.push_back({place, stream});
}

template <class Mode>
bool CreditStream<Mode>::post_receive(const Unposted& unposted) {
    if constexpr (kHasWords) {
        return true;
    } else {
        const auto [place, frees] = unposted;
        const auto stream = static_cast<std::size_t>(stream_of_[static_cast<std::size_t>(place)]);
        std::int64_t taken = 0;
        if (place >= message_receives_) {
            const Rank peer = out_[stream].to;
            const Route from = route(peer, place_of(place), place);
            const ssize_t status = Mode::receive(kIsPooled ? either_ : credits_, from, settings_.op + 1);
            if (!is_started(status, "posting a receive", peer)) return false;
        } else {
            taken = taken_at_[static_cast<std::size_t>(place)];
            if (!post_for_message(in_[stream], place)) return false;
        }
        if (frees >= 0) free_buffer(in_[static_cast<std::size_t>(frees)], taken);
        return true;
    }
}

template <class Mode>
inline bool CreditStream<Mode>::send_one(Outgoing& stream) {
    const int place = kIsFetched || leaves_out() ? stream.first + stream.next_there : stream.free.next();
    std::byte* const message = place_to_send(place);
    if (is_numbered_) // all: a place keeps the number of the one before
        write_number(memory_, message, message_size_, static_cast<std::uint64_t>(stream.sent));
    const Route to = route(stream.to, message, receives_ + place);
    ssize_t status = 0;
    if constexpr (kHasWords) {
        status = send_by_words(stream, to);
    } else {
        status = send(stream, to, label_);
    }
    if (!is_started(status, "sending", stream.to)) return false;
    if constexpr (kHasWords) note_sent(stream, place);
    if (leaves_out()) note_unasked(stream, place);
    ++stream.sent;
    if (!is_silent()) stream.free.take();
    return true;
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
        while (stream.sent < end) {
            if constexpr (kHasFlags)
                if (!post_flags()) break;
            if (!has_place(stream) || !send_one(stream)) break;
        }
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

// Until the first credit on the way is known to have come, messages come up to the window beyond the last that is
// known. The credits that can still be sent share them: if each told of one message, a window of more than kCredits
// would be told to the end only a round trip later, and never be full.
template <class Mode>
void CreditStream<Mode>::return_credits(Incoming& stream) {
    const std::int64_t heard = kIsFetched ? stream.posted : stream.received;
    while (stream.tellings > 0 && stream.telling[stream.first_telling] <= heard - settings_.window) {
        stream.known = stream.telling[stream.first_telling];
        stream.first_telling = (stream.first_telling + 1) % kCredits;
        --stream.tellings;
    }
    const std::int64_t left = kCredits - static_cast<std::int64_t>(stream.tellings);
    if ((stream.freed - stream.told) * left >= stream.known + settings_.window - stream.told) tell(stream);
}

template <class Mode>
void CreditStream<Mode>::tell(Incoming& stream) {
    if (stream.freed <= stream.told || stream.tellings == kCredits) return;
    if (!is_started(send_credit(stream), "returning a credit", stream.from)) return;
    stream.telling[(stream.first_telling + stream.tellings++) % kCredits] = stream.freed;
    // Of words the sender sees the values, and not how many there were.
    started_[static_cast<std::size_t>(stream.from)] += kHasWords ? stream.freed - stream.told : 1;
    stream.told = stream.freed;
}

template <class Mode>
ssize_t CreditStream<Mode>::send_credit(const Incoming& stream) {
    const auto value = static_cast<std::uint64_t>(stream.freed);
    if constexpr (kHasWords) {
        const std::size_t nth = (stream.first_telling + stream.tellings) % kCredits;
        return write_word(context_, stream.from, StreamWords::of_credit(context_.ranks, context_.self, nth), value);
    } else {
        std::byte* const place = credit_place();
        memory_.put(place, value);
        const Route to = route(stream.from, place, 0); // injected: the slot is not used
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
    // What came before is free, and nothing more is for so long; a signal to stop is not waited for.
    post_receives();
    for (Incoming& stream : in_) tell(stream);
    const Nanoseconds end = std::min(now_ns() + settings_.free_delay.time, end_);
    while (now_ns() < end && StopSignal::number() == 0) {
    }
}

template <class Mode>
void CreditStream<Mode>::take_message(int stream, int place) {
    if (settings_.free_delay.time > 0 && (received_ + 1) % settings_.free_delay.every == 0 && !is_ending_) pause();
    Incoming& from = in_[static_cast<std::size_t>(stream)];
    const std::int64_t number = kIsPooled ? from.received : taken_at_[static_cast<std::size_t>(place)];
    if ((settings_.checks_all || is_sample(static_cast<std::uint64_t>(number))) && is_numbered_)
        check_number(place, from.from, number);
    ++from.received;
    ++received_;
    counts_[1] = static_cast<std::uint64_t>(received_);
    totals_[1] = received_;
    if constexpr (kHasWords)
        free_in_order(from, place);
    else
        post_again(stream, place);
}

template <class Mode>
void CreditStream<Mode>::take_credit(Outgoing& stream, int place) {
    stream.credit = std::max(stream.credit, static_cast<std::int64_t>(memory_.get(place_of(place))));
    ++credits_received_;
    unposted_.push_back({place, -1});
}

template <class Mode>
void CreditStream<Mode>::take_send(int place, Nanoseconds now) {
    if (leaves_out()) return take_asked(place);
    const int slot = receives_ + place;
    FreePlaces& free = out_[static_cast<std::size_t>(stream_of_[static_cast<std::size_t>(slot)])].free;
    if (free.is_full()) [[unlikely]]
        throw RunError("a send completed that was not to", EndReason::bad_data);
    free.put(place);
    --under_way_;
    counts_[0] = static_cast<std::uint64_t>(++totals_[0]);
    moments_.send_done = now;
    if constexpr (kHasFlags)
        if (settings_.flag_behind == FlagBehind::delivery) post_flag(flags_[static_cast<std::size_t>(place)]);
}

template <class Mode>
void CreditStream<Mode>::take(int place, std::uint64_t data) {
    if (is_sweeping_) {
        --left_;
        return;
    }
    if constexpr (kIsPooled) {
        const auto source = static_cast<std::size_t>(data & kSourceMask);
        const auto rank = static_cast<Rank>(source);
        if (source < in_of_.size()) {
            if (in_of_[source] >= 0 && data == message_data(settings_.op, rank))
                return take_message(in_of_[source], place);
            if (out_of_[source] >= 0 && data == message_data(settings_.op + 1, rank))
                return take_credit(out_[static_cast<std::size_t>(out_of_[source])], place);
        }
        throw RunError(fmt::format("a message came that nobody should send (data {:#x})", data),
                       EndReason::bad_data);
    }
    const int stream = stream_of_[static_cast<std::size_t>(place)];
    if (place < message_receives_) return take_message(stream, place);
    take_credit(out_[static_cast<std::size_t>(stream)], place);
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
    const std::int64_t received_before = received_;
    for (const fi_cq_data_entry& entry : std::span(entries_).first(count)) {
        const std::ptrdiff_t slot = static_cast<const Slot*>(entry.op_context) - slots_.data();
        // Our own slots first: some providers flag the completion of a write that carries data like its arrival.
        if (is_written(Mode::kArrival) && !is_send(slot))
            take_data(entry);
        else if (slot < receives_)
            take(static_cast<int>(slot), entry.data);
        else
            take_send(static_cast<int>(slot) - receives_, now);
    }
    if (received_ != received_before) moments_.receive_done = now;
    post_receives();
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
        const auto take_up = [&](Rank peer, int& count, std::uint64_t op) {
            while (count > 0 &&
                   is_started(Mode::inject(context, route(peer, credit_place(), 0), Mode::label(context, op)),
                              "taking up a receive", peer))
                --count;
            is_done = is_done && count == 0;
        };
        for (Outgoing& stream : out_) take_up(stream.to, stream.to_take_up, settings_.op);
        for (Incoming& stream : in_) take_up(stream.from, stream.to_take_up, settings_.op + 1);
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
