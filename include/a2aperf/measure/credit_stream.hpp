// SPDX-License-Identifier: BSD-3-Clause
// Streams of messages to some ranks, from some, or both: of each as many may be under way as its receiver has
// buffers, and it tells when it has freed some.
#pragma once

#include <rdma/fi_eq.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "a2aperf/base/clock.hpp"
#include "a2aperf/base/error.hpp"
#include "a2aperf/measure/channel.hpp"
#include "a2aperf/measure/credit_stream_ends.hpp"
#include "a2aperf/measure/flow.hpp"
#include "a2aperf/measure/message_number.hpp"
#include "a2aperf/measure/mode_table.hpp"
#include "a2aperf/measure/stream_words.hpp"
#include "a2aperf/plan/stream_plan.hpp"
#include "a2aperf/stats/samples.hpp"
#include "a2aperf/transfer/asking.hpp"

namespace a2aperf {

struct StreamSettings {
    std::vector<Rank> to{}, from{}; // each once; perhaps this rank itself
    int window = 1;                 // buffers of the receiver, for each sender
    std::int64_t most = -1;         // messages to send to each; -1 = until the end of the duration
    bool injects = false;           // messages go by the provider's inject path: none completes
    // The order in which messages were sent is that in which receives take them; and that of their completions.
    bool matches_in_order = false, completes_in_order = false;
    FlagBehind flag_behind = FlagBehind::post; // where a flag tells of a message
    bool checks_all = false;                   // the number of each message is looked at, not of samples alone
    FreeDelay free_delay{};
    // Where sends ask for completions (transfer/asking.hpp): for those of each so many-th to a rank, with these
    // flags.
    int cq_mod = 1;
    std::uint64_t completion_flags = 0;
    // Of the messages; that of the credits is one more. Differs between all streams and ops of a launch.
    std::uint64_t op = 0;
};

// Credits: 8 bytes, how many buffers have been freed since the start. The value makes an older one needless, so it
// matters not in what order they come (measure/returned_credits.hpp).
//
// Where messages are written, a message's number says in which buffer of its receiver it lies, and buffers are
// freed in the order of numbers. The data of a write name the buffer, or a word of the receiver's does, which takes
// the number. Credits are written into words of the sender's, one after another of kCredits, and it looks at the
// next one: so neither needs writes to be in order, and no receive is posted. Where the receiver fetches messages,
// the number says in which buffer of the sender each lies, too: the word tells that it may be read, and its credit
// that it has been.
//
// Where some sends do not complete, a message's number says which place of the sender's it takes, too: the window
// keeps it from a place before the credit covers the message that had it. So buffers are freed in the order of
// numbers there as well, and a place whose completion was asked for waits for that, too.
template <class Mode>
class CreditStream {
public:
    static constexpr std::array<std::string_view, 2> kCounters{"tick_sent", "tick_received"};

    CreditStream(const Job& job, Channel& channel, Bytes message_size, const StreamSettings& settings);

    void prepare() { post_receives(); }
    // Mostly nothing is there: what finds nothing calls the provider alone.
    bool advance() {
        bool has_sent = false;
        if (out_.size() == 1) [[likely]] {
            has_sent = may_send(out_.front()) && send_messages(out_.front());
        } else {
            for (std::size_t i = first_out_; i < out_.size(); ++i)
                has_sent |= may_send(out_[i]) && send_messages(out_[i]);
            for (std::size_t i = 0; i < first_out_; ++i) has_sent |= may_send(out_[i]) && send_messages(out_[i]);
            if (++first_out_ >= out_.size()) first_out_ = 0; // another one finds room first
        }
        const bool has_read = look();
        for (Incoming& stream : in_)
            if (stream.credits.has_news(heard_of(stream), stream.freed)) return_credits(stream);
        return has_sent || has_read;
    }
    bool progress() {
        for (Outgoing& stream : out_) // to the end: it sends no more
            if (stream.waiting_since != 0) note_wait(stream);
        if (is_silent() && noted_ != sent_) [[unlikely]]
            note_silent(now_ns());
        return look();
    }
    bool is_over() const { return sent_ == to_send_ && received_ == to_receive_; }
    bool has_peers() const { return !out_.empty() || !in_.empty(); }
    std::span<const std::uint64_t> counters() const { return counts_; }
    std::span<const std::int64_t> started() const { return started_; }
    void expect(std::span<const std::int64_t> due) {
        due_.assign(due.begin(), due.end());
        is_ending_ = true;
    }
    bool is_drained() const { return under_way_ == 0 && missing() == 0 && unposted_.empty() && untold_.empty(); }
    std::string waiting_for() const;
    void see_peers(std::vector<PeerSeen>& seen) const {
        seen.clear();
        for (const Outgoing& stream : out_) seen.push_back(seen_of(stream));
        for (const Incoming& stream : in_) seen.push_back(seen_of(stream));
    }
    // Messages of all that a peer may have to do with, as they leave and as they come, and as many again.
    std::uint64_t most_ahead() const { return 4 * static_cast<std::uint64_t>(settings_.window) * peers_of_any(); }
    // A receiver pauses for messages of others that came before, and of all that it takes before it looks at the
    // clock.
    Nanoseconds longest_pause() const {
        const auto most =
            std::max<std::int64_t>(static_cast<std::int64_t>(settings_.window) * job_.ranks(), kTakenAtOnce);
        const std::int64_t pauses = most / settings_.free_delay.every + 2;
        return std::min(settings_.free_delay.time, kLongestPause / pauses) * pauses;
    }

    bool injects() const { return settings_.injects; }
    std::int64_t completions() const { return completions_; } // of sends, where some are left out
    // Whether a message is under way whose credit has not come.
    bool has_outstanding() const {
        return std::ranges::any_of(out_, [](const Outgoing& stream) { return stream.sent > stream.credit; });
    }
    FlowMoments moments() const { return moments_; }
    // A receiver's pause ends with the duration, which nothing outlasts but what is under way.
    void open(Nanoseconds, Nanoseconds end) { end_ = end; }
    // That may be sent from the start on, to all ranks together: no limit until it is said.
    void allow(std::int64_t messages) { allowed_ = messages; }
    // That may be sent to each, from the start on.
    void allow_each(std::int64_t messages) {
        settings_.most = messages;
        limit();
    }
    // So many have come from each, and each has told that it has as many.
    bool has_exchanged(std::int64_t messages) const {
        return std::ranges::all_of(in_, [&](const Incoming& stream) { return stream.received >= messages; }) &&
               std::ranges::all_of(out_, [&](const Outgoing& stream) { return stream.credit >= messages; });
    }
    std::int64_t handed_over() const { return sent_; } // to the provider, to all ranks
    // Messages sent and received; ns of the longest wait for a credit.
    std::span<const std::int64_t> totals() const { return totals_; }

    // Takes up the receives that are still posted, with messages that nobody counts.
    void expect_sweep();
    bool sweep();

private:
    static constexpr int kCredits = kStreamCredits;
    static constexpr std::int64_t kTakenAtOnce = 256; // DurationLoop looks after 16 reads of 16 completions
    static constexpr Nanoseconds kLongestPause = 86'400'000'000'000; // together
    static constexpr std::size_t kCreditBytes = sizeof(std::uint64_t);
    static constexpr bool kIsPooled = Mode::kArrival == Arrival::receive_with_data; // any receive takes any message
    static constexpr bool kIsFetched = Mode::kInitiator == Initiator::receiver;
    static constexpr bool kHasWords = tells_by_words(Mode::kArrival);
    static constexpr bool kHasFlags = Mode::kArrival == Arrival::flag;
    static constexpr bool kAsks = AsksForCompletions<Mode>;

    using Outgoing = OutgoingStream;
    using Incoming = IncomingStream;
    struct Flag {
        const Outgoing* stream;
        int buffer;
        std::uint64_t value;
    };
    struct Unposted {
        int place;
        Incoming* frees; // the stream whose buffer that is; null = none's
    };

    std::uint64_t peers_of_any() const { return static_cast<std::uint64_t>(job_.ranks()); } // at most
    // A receiver owes a credit to who has filled the window, and lets sends complete. A receiver that has all
    // messages may have left.
    PeerSeen seen_of(const Outgoing& stream) const {
        const std::string_view due = is_full(stream)              ? "credits"
                                     : awaits_completions(stream) ? "completions of sends"
                                                                  : "";
        return {stream.to, due, true, static_cast<std::uint64_t>(stream.sent + stream.credit)};
    }
    bool is_full(const Outgoing& stream) const {
        return stream.sent != settings_.most && stream.sent - stream.credit >= settings_.window;
    }
    bool awaits_completions(const Outgoing& stream) const {
        if (!leaves_out()) return stream.free.count() < static_cast<std::size_t>(settings_.window);
        const auto places =
            std::span(is_awaited_)
                .subspan(static_cast<std::size_t>(stream.first), static_cast<std::size_t>(settings_.window));
        return std::ranges::find(places, 1) != places.end();
    }
    // A sender sends while it has credit.
    PeerSeen seen_of(const Incoming& stream) const {
        const bool is_due =
            stream.received != settings_.most && stream.received - stream.credits.told() < settings_.window;
        return {stream.from, is_due ? "messages" : "", false,
                static_cast<std::uint64_t>(stream.received + stream.credits.told())};
    }

    // Or has to note that it waits.
    bool may_send(const Outgoing& stream) const {
        return stream.sent != settings_.most &&
               (stream.sent < stream.credit + settings_.window || stream.waiting_since == 0);
    }
    void open_streams();
    void open_buffers();
    // Of all messages, from settings_.most.
    void limit() {
        to_send_ = settings_.most < 0 ? -1 : settings_.most * std::ssize(out_);
        to_receive_ = settings_.most < 0 ? -1 : settings_.most * std::ssize(in_);
    }
    std::int64_t missing() const;
    // False: again later.
    bool is_started(ssize_t status, const char* call, Rank peer) const {
        if (status == 0) [[likely]]
            return true;
        if (status != -FI_EAGAIN) fail_start(status, call, peer);
        return false;
    }
    [[noreturn, gnu::cold]] void fail_start(ssize_t status, const char* call, Rank peer) const;
    [[noreturn]] void fail_completion(ssize_t status) const;
    bool send_messages(Outgoing& stream);
    // True when another one may follow; its one caller loops over it.
    [[gnu::always_inline]] bool send_one(Outgoing& stream);
    void note_sends(const Outgoing& stream, std::int64_t count);
    void note_wait(Outgoing& stream);
    // Of those that are injected, fetched by the peer, or do not complete all, nothing tells when they are sent: no
    // later than this rank's next event, or its end.
    bool is_silent() const { return kIsFetched || is_silent_; }
    void note_silent(Nanoseconds now) {
        noted_ = sent_;
        moments_.send_done = now;
    }
    static std::int64_t heard_of(const Incoming& stream) { return kIsFetched ? stream.posted : stream.received; }
    void return_credits(Incoming& stream);
    void tell(Incoming& stream);
    ssize_t send_credit(const Incoming& stream);
    bool read_queue() {
        const ssize_t count = fi_cq_read(queue_, entries_.data(), entries_.size());
        if (count > 0) {
            take_entries(static_cast<std::size_t>(count));
            return true;
        }
        if (count != -FI_EAGAIN || !unposted_.empty()) [[unlikely]]
            note_nothing(count);
        return false;
    }
    void take_entries(std::size_t count);
    void take_swept(std::size_t count);
    void note_nothing(ssize_t status);
    void post_receives() {
        if (!unposted_.empty()) [[unlikely]]
            post_unposted();
    }
    void post_unposted();
    bool post_receive(const Unposted& unposted);
    // What is done for each message stands in the loops over them, without a call of its own.
    [[gnu::always_inline]] bool post_for_message(Incoming& stream, int place);
    [[gnu::always_inline]] void post_again(Incoming& stream, int place);
    [[gnu::always_inline]] void take(int place, std::uint64_t data);
    [[gnu::always_inline]] void take_message(Incoming& stream, int place);
    [[gnu::always_inline]] void take_send(int place);
    void take_credit(Outgoing& stream, int place);
    void note_received(Nanoseconds now) {
        counts_[1] = static_cast<std::uint64_t>(received_);
        totals_[1] = received_;
        moments_.receive_done = now;
    }
    void pause();

    // Where sends ask for completions: credit_stream_asking.hpp.
    bool leaves_out() const { return kAsks && leaves_out_; }
    bool asks_next(const Outgoing& stream) const { return stream.unasked + 1 == settings_.cq_mod; }
    bool has_place(const Outgoing& stream) const {
        return leaves_out() ? !is_awaited_[static_cast<std::size_t>(stream.first) +
                                           static_cast<std::size_t>(stream.next_there)]
                            : !stream.free.is_empty();
    }
    [[gnu::always_inline]] ssize_t send(const Outgoing& stream, const Route& to, std::uint64_t label);
    void note_unasked(Outgoing& stream, int place);
    void take_asked(int place);
    void open_turns();
    [[gnu::always_inline]] void free_buffer(Incoming& stream, std::int64_t number);
    void free_in_turn(Incoming& stream, std::int64_t number);

    // Where words tell of messages: credit_stream_words.hpp.
    bool look() {
        bool has_words = false;
        if constexpr (kHasWords) has_words = look_at_words();
        return read_queue() || has_words;
    }
    bool look_at_words();
    bool take_credits(Outgoing& stream);
    [[gnu::always_inline]] void take_flags(Incoming& stream);
    [[gnu::always_inline]] void take_data(const fi_cq_data_entry& entry);
    bool fetch(Incoming& stream);
    [[gnu::always_inline]] void free_in_order(Incoming& stream, int place);
    [[gnu::always_inline]] ssize_t send_by_words(const Outgoing& stream, Route to);
    [[gnu::always_inline]] bool note_sent(Outgoing& stream, int place);
    Flag flag_of_next(const Outgoing& stream) const {
        return {&stream, stream.next_there, static_cast<std::uint64_t>(stream.sent) + 1};
    }
    ssize_t write_flag(const Flag& flag);
    bool is_told(const Flag& flag); // false: again later
    [[gnu::always_inline]] bool post_flag(const Flag& flag);
    // At most one of each buffer: there is room.
    [[gnu::cold, gnu::noinline]] void put_off(Flag flag) { untold_.push_back(flag); }
    bool post_flags(); // true when nothing is untold
    [[gnu::noinline]] void check_number(int place, Rank from, std::int64_t due) const;

    std::byte* place_of(int place) const { return receive_buffer_ + static_cast<std::size_t>(place) * stride_; }
    std::byte* place_to_send(int place) const { return send_buffer_ + static_cast<std::size_t>(place) * stride_; }
    Route route(const Outgoing& stream, std::byte* message, Slot* slot) {
        return {stream.address, message, 0, 0, slot, stream.to};
    }
    Route route(const Incoming& stream, std::byte* message, Slot* slot) {
        return {stream.address, message, 0, 0, slot, stream.from};
    }
    Slot* slot_to_send(int place) const { return send_slots_ + place; }
    Slot* slot_to_receive(int place) const { return receive_slots_ + place; }
    Outgoing& stream_of_credit(int place) {
        return out_[static_cast<std::size_t>((place - message_receives_) / kCredits)];
    }
    std::byte* credit_place() const { return place_to_send(sends_); } // to send one from

    const Job& job_;
    Channel& channel_;
    fid_cq* const queue_ = channel_.endpoint().queue();
    StreamSettings settings_;
    std::size_t message_size_, stride_;
    // What holds for all messages, so that none asks again.
    const MemoryKind& memory_ = channel_.memory();
    std::byte* const send_buffer_ = channel_.send_buffer();
    std::byte* const receive_buffer_ = channel_.receive_buffer();
    const bool leaves_out_ = settings_.cq_mod > 1;
    const bool is_silent_ = settings_.injects || (kAsks && leaves_out_);
    // By a receive that takes nothing else it is known which message is its own, in whatever order they complete.
    const bool is_numbered_ =
        message_size_ >= kNumberBytes &&
        (kHasWords || (settings_.matches_in_order && (!kIsPooled || settings_.completes_in_order)));
    const bool is_numbered_at_once_ = is_numbered_ && takes_numbers_at_once(memory_, message_size_);
    // Of how many sixteenths of the messages the number is looked at.
    const std::uint64_t sixteenths_ = !is_numbered_ ? 0 : settings_.checks_all ? 16 : 1;
    // Places of messages, then of credits; and those to send from.
    const int message_receives_ = settings_.window * static_cast<int>(std::ssize(settings_.from));
    const int sends_ = settings_.window * static_cast<int>(std::ssize(settings_.to));
    const int receives_ =
        message_receives_ + (kHasWords ? 0 : kCredits * static_cast<int>(std::ssize(settings_.to)));
    TransferContext context_; // of messages
    TransferContext credits_; // the same of credits
    TransferContext either_;  // of receives that take either
    // Of all messages of this rank's, where they carry one that is the same; and without the rank or the buffer
    // that data name.
    std::uint64_t label_ = 0;
    const std::uint64_t data_ = message_data(settings_.op, 0), credit_data_ = message_data(settings_.op + 1, 0);
    std::vector<Outgoing> out_;
    std::vector<Incoming> in_;
    std::vector<Rank> peers_;                 // each once
    std::vector<int> in_of_, out_of_;         // the stream from, or to, a rank; -1 = none [R]
    std::vector<std::int64_t> started_, due_; // [R]
    std::vector<Slot> slots_;                 // of the receives of messages, of credits, then of the sends
    Slot* receive_slots_ = nullptr;           // among them
    Slot* send_slots_ = nullptr;
    std::vector<Incoming*> incoming_of_;  // by place [message_receives_]
    std::vector<Outgoing*> outgoing_of_;  // by place [sends_]
    std::vector<Unposted> unposted_;      // receives
    std::vector<std::int64_t> taken_at_;  // number of the message that is taken at a place
    std::optional<StreamWords> words_;    // where they tell of messages
    std::vector<Flag> flags_;             // of messages whose delivery they wait for, by place [sends]
    std::vector<Flag> untold_;            // that found no room
    std::vector<std::int8_t> is_awaited_; // the completion of the send from a place [sends]
    std::vector<std::int8_t> is_freed_;   // a buffer, before one of an earlier number [message_receives]
    std::array<std::uint64_t, 2> counts_{};
    std::array<std::int64_t, 3> totals_{};
    FlowMoments moments_{kNoMoment, kNoMoment, kNoMoment};
    // Of all streams.
    std::int64_t sent_ = 0, under_way_ = 0, noted_ = 0; // noted: those whose moment was
    std::int64_t received_ = 0, credits_received_ = 0, completions_ = 0;
    std::int64_t to_send_ = -1, to_receive_ = -1; // until it is over; -1 = never
    // Messages until the next pause.
    std::int64_t until_pause_ = settings_.free_delay.time > 0 ? settings_.free_delay.every
                                                              : std::numeric_limits<std::int64_t>::max();
    std::int64_t allowed_ = std::numeric_limits<std::int64_t>::max();
    std::size_t first_out_ = 0;
    Nanoseconds end_ = std::numeric_limits<Nanoseconds>::max(); // of the duration, where it is told
    bool is_ending_ = false, is_sweeping_ = false;
    std::int64_t left_ = 0; // of its own receives to take up
    std::array<fi_cq_data_entry, 16> entries_{};
};

// Of this rank's ends of streams of messages of such a size: whom they are with, what the provider says of them,
// and the ops that they are numbered by. Collective.
StreamSettings settings_of_streams(const EngineParts& parts, const Offer& offer, Bytes size,
                                   std::span<const StreamPair> who);

// Of a point that is a stream, in one of StreamModes.
std::unique_ptr<Flow> make_stream(const EngineParts& parts);

} // namespace a2aperf
