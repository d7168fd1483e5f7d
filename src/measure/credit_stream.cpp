// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/measure/credit_stream.hpp"

#include <algorithm>

#include "a2aperf/transfer/msg.hpp"
#include "a2aperf/transfer/tagged.hpp"

namespace a2aperf {

template <class Mode>
CreditStream<Mode>::CreditStream(const Job& job, Channel& channel, Bytes message_size,
                                 const StreamSettings& settings)
    : job_(job), channel_(channel), settings_(settings), message_size_(message_size),
      stride_(stream_stride(message_size)), context_(channel.context(std::max<Bytes>(message_size, 1))),
      credits_(context_), receives_(context_), started_(static_cast<std::size_t>(job.ranks())),
      due_(static_cast<std::size_t>(job.ranks())), slots_(static_cast<std::size_t>(2 * settings.window + kCredits)),
      taken_at_(static_cast<std::size_t>(settings.window)) {
    context_.message_size = message_size;
    credits_.message_size = kCreditBytes;
    receives_.message_size = std::max(message_size_, kCreditBytes);
    for (int place = 0; place < settings.window; ++place) {
        if (settings.from != kNobody) unposted_.push_back(place);
        free_.push_back(place);
    }
    if (settings.to != kNobody)
        for (int place = 0; place < kCredits; ++place) unposted_.push_back(settings.window + place);
}

template <class Mode>
std::byte* CreditStream<Mode>::place_of(int place) const {
    return channel_.receive_buffer() + static_cast<std::size_t>(place) * stride_;
}

// Of the peers' messages and credits.
template <class Mode>
std::int64_t CreditStream<Mode>::missing() const {
    std::int64_t due = 0;
    if (settings_.from != kNobody) due += due_[static_cast<std::size_t>(settings_.from)];
    if (settings_.to != kNobody && settings_.to != settings_.from)
        due += due_[static_cast<std::size_t>(settings_.to)];
    return due - received_ - credits_received_;
}

template <class Mode>
std::string CreditStream<Mode>::waiting_for() const {
    if (is_sweeping_) return fmt::format("{} of its last receives to be taken up", left_);
    std::string words;
    if (settings_.from != kNobody) words = fmt::format("messages from {}", job_.who(settings_.from));
    if (settings_.to != kNobody)
        words += fmt::format("{}credits from {} and {} sends to it", words.empty() ? "" : ", ",
                             job_.who(settings_.to), under_way_);
    if (is_ending_) words += fmt::format(" ({} are missing)", missing());
    return words;
}

// False: again later.
template <class Mode>
bool CreditStream<Mode>::is_started(ssize_t status, const char* call, Rank peer) const {
    if (status == 0 || status == -FI_EAGAIN) return status == 0;
    throw RunError(
        fmt::format("in a stream: {} (peer {}): {}", call, job_.who(peer), fi_strerror(static_cast<int>(-status))),
        reason_of(static_cast<int>(-status)));
}

template <class Mode>
void CreditStream<Mode>::fail_completion(ssize_t status) const {
    if (status != -FI_EAVAIL)
        throw RunError(fmt::format("in a stream: reading the completion queue: {}; it waits for {}",
                                   fi_strerror(static_cast<int>(-status)), waiting_for()),
                       reason_of(static_cast<int>(-status)));
    const CompletionError error = channel_.endpoint().take_error();
    throw RunError(fmt::format("in a stream: an operation failed: {}; it waits for {}", error.text, waiting_for()),
                   reason_of(error.code));
}

template <class Mode>
void CreditStream<Mode>::post_receives() {
    if (is_sweeping_) return;
    while (!unposted_.empty()) {
        const int place = unposted_.back();
        const bool is_credit = place >= settings_.window;
        const Rank peer = is_credit ? settings_.to : settings_.from;
        const TransferContext& context = kIsPooled ? receives_ : is_credit ? credits_ : context_;
        const ssize_t status =
            Mode::receive(context, route(peer, place_of(place), place), settings_.op + (is_credit ? 1 : 0));
        if (!is_started(status, "posting a receive", peer)) break;
        if (!is_credit) taken_at_[static_cast<std::size_t>(place)] = posted_++;
        unposted_.pop_back();
    }
    freed_ = received_ - static_cast<std::int64_t>(unposted_.size());
}

template <class Mode>
bool CreditStream<Mode>::send_messages() {
    bool has_sent = false;
    while (settings_.most < 0 || sent_ < settings_.most) {
        if (sent_ - credit_ >= settings_.window) {
            if (waiting_since_ == 0) waiting_since_ = now_ns();
            break;
        }
        if (waiting_since_ != 0) [[unlikely]]
            note_wait();
        if (free_.empty() || !send_one()) break;
        has_sent = true;
    }
    return has_sent;
}

template <class Mode>
void CreditStream<Mode>::note_wait() {
    totals_[2] = std::max(totals_[2], now_ns() - waiting_since_);
    waiting_since_ = 0;
}

template <class Mode>
void CreditStream<Mode>::stamp(std::byte* message) const {
    const auto number = static_cast<std::uint64_t>(sent_);
    const std::uint64_t end = mix64(number);
    channel_.memory().write(message, std::as_bytes(std::span(&number, 1)));
    if (message_size_ >= 2 * sizeof end)
        channel_.memory().write(message + message_size_ - sizeof end, std::as_bytes(std::span(&end, 1)));
}

template <class Mode>
bool CreditStream<Mode>::send_one() {
    const int place = free_.back();
    std::byte* const message = channel_.send_buffer() + static_cast<std::size_t>(place) * stride_;
    if (is_stamped()) stamp(message); // all: a place keeps the number of the one before
    const Route to = route(settings_.to, message, receives() + place);
    const std::uint64_t label = Mode::label(context_, settings_.op);
    if (moments_.begin == kNoMoment) moments_.begin = now_ns();
    const ssize_t status = settings_.injects ? Mode::inject(context_, to, label) : Mode::send(context_, to, label);
    if (!is_started(status, "sending", settings_.to)) return false;
    ++sent_;
    ++started_[static_cast<std::size_t>(settings_.to)];
    if (settings_.injects) {
        counts_[0] = static_cast<std::uint64_t>(++totals_[0]);
        return true;
    }
    free_.pop_back();
    ++under_way_;
    return true;
}

template <class Mode>
void CreditStream<Mode>::return_credits() {
    while (tellings_ > 0 && telling_[first_telling_] <= received_ - settings_.window) {
        first_telling_ = (first_telling_ + 1) % kCredits;
        --tellings_;
    }
    if (freed_ <= told_ || tellings_ == kCredits) return;
    std::byte* const place = channel_.send_buffer() + static_cast<std::size_t>(settings_.window) * stride_;
    const auto value = static_cast<std::uint64_t>(freed_);
    channel_.memory().write(place, std::as_bytes(std::span(&value, 1)));
    const Route to = route(settings_.from, place, 0); // injected: the slot is not used
    const ssize_t status = Mode::inject(credits_, to, Mode::label(credits_, settings_.op + 1));
    if (!is_started(status, "returning a credit", settings_.from)) return;
    telling_[(first_telling_ + tellings_++) % kCredits] = freed_;
    told_ = freed_;
    ++started_[static_cast<std::size_t>(settings_.from)];
}

template <class Mode>
void CreditStream<Mode>::check_stamp(int place, std::int64_t due) const {
    const std::byte* const message = place_of(place);
    std::uint64_t number = 0;
    std::uint64_t end = 0;
    channel_.memory().read(message, std::as_writable_bytes(std::span(&number, 1)));
    const auto wanted = static_cast<std::uint64_t>(due);
    if (number != wanted)
        throw RunError(fmt::format("message {} of the stream from {} came where message {} was due", number,
                                   job_.who(settings_.from), wanted),
                       EndReason::bad_data);
    if (message_size_ < 2 * sizeof end) return;
    channel_.memory().read(message + message_size_ - sizeof end, std::as_writable_bytes(std::span(&end, 1)));
    if (end != mix64(number))
        throw RunError(fmt::format("the end of message {} of the stream from {} is not what was sent", number,
                                   job_.who(settings_.from)),
                       EndReason::bad_data);
}

template <class Mode>
void CreditStream<Mode>::take_message(int place) {
    const std::int64_t number = kIsPooled ? received_ : taken_at_[static_cast<std::size_t>(place)];
    if (number % kChecksEvery == 0 && is_stamped()) check_stamp(place, number);
    ++received_;
    counts_[1] = static_cast<std::uint64_t>(received_);
    totals_[1] = received_;
    unposted_.push_back(place);
}

template <class Mode>
void CreditStream<Mode>::take_credit(int place) {
    std::uint64_t value = 0;
    channel_.memory().read(place_of(place), std::as_writable_bytes(std::span(&value, 1)));
    credit_ = std::max(credit_, static_cast<std::int64_t>(value));
    ++credits_received_;
    unposted_.push_back(place);
}

template <class Mode>
void CreditStream<Mode>::take(int place, std::uint64_t data) {
    if (is_sweeping_) {
        --left_;
        return;
    }
    if constexpr (kIsPooled) {
        if (settings_.from != kNobody && data == message_data(settings_.op, settings_.from))
            return take_message(place);
        if (settings_.to != kNobody && data == message_data(settings_.op + 1, settings_.to))
            return take_credit(place);
        throw RunError(fmt::format("a message came that nobody should send (data {:#x})", data),
                       EndReason::bad_data);
    }
    return place < settings_.window ? take_message(place) : take_credit(place);
}

template <class Mode>
bool CreditStream<Mode>::read_queue() {
    const ssize_t count = fi_cq_read(channel_.endpoint().queue(), entries_.data(), entries_.size());
    if (count <= 0) [[unlikely]] {
        if (count != -FI_EAGAIN && count != -FI_EINTR && count != 0) fail_completion(count);
        if (!unposted_.empty()) post_receives();
        return false;
    }
    const Nanoseconds now = now_ns(); // one look at the clock for all of them
    if (settings_.injects && injected_ != sent_) note_injected(now);
    const std::int64_t received_before = received_;
    for (const fi_cq_data_entry& entry : std::span(entries_).first(static_cast<std::size_t>(count))) {
        const auto slot = static_cast<int>(static_cast<const Slot*>(entry.op_context) - slots_.data());
        if (slot < receives()) {
            take(slot, entry.data);
            continue;
        }
        free_.push_back(slot - receives());
        --under_way_;
        counts_[0] = static_cast<std::uint64_t>(++totals_[0]);
        moments_.send_done = now;
    }
    if (received_ != received_before) moments_.receive_done = now;
    post_receives();
    return true;
}

template <class Mode>
void CreditStream<Mode>::expect_sweep() {
    is_sweeping_ = true;
    if (settings_.to != kNobody) {
        messages_to_take_up_ = settings_.window;
        left_ += kCredits;
    }
    if (settings_.from != kNobody) {
        credits_to_take_up_ = kCredits;
        left_ += settings_.window;
    }
}

template <class Mode>
bool CreditStream<Mode>::sweep() {
    std::byte* const place = channel_.send_buffer() + static_cast<std::size_t>(settings_.window) * stride_;
    TransferContext context = credits_;
    context.message_size = std::min(kCreditBytes, message_size_);
    const auto take_up = [&](Rank peer, int& count, std::uint64_t op) {
        while (count > 0 && is_started(Mode::inject(context, route(peer, place, 0), Mode::label(context, op)),
                                       "taking up a receive", peer))
            --count;
    };
    take_up(settings_.to, messages_to_take_up_, settings_.op);
    take_up(settings_.from, credits_to_take_up_, settings_.op + 1);
    return messages_to_take_up_ == 0 && credits_to_take_up_ == 0 && left_ == 0;
}

template class CreditStream<Tagged>;
template class CreditStream<Msg>;

std::unique_ptr<Flow> make_stream(const EngineParts& parts) {
    Channel& channel = only_channel(parts.channels, "a stream");
    const Point& point = parts.point;
    StreamSettings settings{.window = point.window, .most = point.stream.messages};
    for (const StreamPair& pair : point.stream.who) {
        if (pair.from == parts.job.rank()) settings.to = pair.to;
        if (pair.to == parts.job.rank()) settings.from = pair.from;
    }
    Point silent = point;
    silent.window = 0; // the credits count what is under way
    settings.injects = uses_inject(channel, silent);
    settings.matches_in_order = channel.domain().offer().matches_in_order();
    settings.completes_in_order = channel.domain().offer().completes_in_order();
    settings.op = parts.loop.next_op();
    (void)parts.loop.next_op(); // of the credits
    if (point.mode == Msg::kName)
        return std::make_unique<FlowOf<CreditStream<Msg>>>(parts.job, channel, point.message_size, settings);
    return std::make_unique<FlowOf<CreditStream<Tagged>>>(parts.job, channel, point.message_size, settings);
}

} // namespace a2aperf
