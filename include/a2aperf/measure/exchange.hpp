// SPDX-License-Identifier: BSD-3-Clause
// One op of one rank: post, poll, count. The timed loop allocates nothing, locks nothing and throws
// only when the op has failed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "a2aperf/measure/exchange_state.hpp"
#include "a2aperf/transfer/mode.hpp"

namespace a2aperf {

template <TransferMode Mode>
class Exchange : public ExchangeState {
public:
    // sends are the receivers' business where they start the transfers.
    Exchange(const TransferContext& context, const Endpoint& endpoint, const std::vector<Rank>& sends,
             const std::vector<Rank>& receives, ExchangeSettings settings, Deadline& deadline)
        : ExchangeState(context, endpoint, Mode::kArrival, kSends ? sends : std::vector<Rank>{}, receives, settings,
                        deadline) {}

    // Before the start: forgets the last op. Receives are posted here, or by run(). Reads are part of the op.
    [[gnu::always_inline]] inline void begin(std::uint64_t op);
    [[gnu::always_inline]] inline void post_all_receives();

    // The timed part. Messages of ranks that began before us may all have arrived before it. Throws RunError that
    // names who waits for whom.
    Moments run();

    // Reads the completion queue once; between ops it keeps peers going. True when something was there.
    [[gnu::always_inline]] bool progress() { return poll<Sleep::never>(); }

    // Where several share an op, in turn instead of run(): what may be posted is, and the queue is read once. True
    // when something was there.
    void post();
    bool advance();
    bool is_done() const { return is_over() && (!kFlags || told_ == sends_.size()); }
    // Where another reads the queue for several: what may be posted of the receives is, true when all are; whose a
    // completion is that names a slot; what was read is put, of at most kBatch between two take(); true when
    // something was there, or a flag.
    bool try_receives();
    bool owns(const void* context) const {
        return !std::less<>{}(context, static_cast<const void*>(slots_.data())) &&
               std::less<>{}(context, static_cast<const void*>(slots_.data() + slots_.size()));
    }
    void put(const fi_cq_data_entry& entry) { entries_[put_++] = entry; }
    bool take();
    const std::vector<Route>& receives() const { return receives_; }

    Moments moments() const { return {kSends ? completed_at_[send] : kNoMoment, completed_at_[arrival]}; }

    // Receives for messages of this op that are one too many, behind those that are due; an arrival counts as one
    // of the rank it is for, or as one of our own rank's where it is for any. sweep() takes them up: one message
    // more comes for each of them, sent by its rank or, where any will do, by the nearest. Nothing happens in modes
    // that post no receives: they see every arrival.
    void post_strays(std::byte* space, void* descriptor);
    void sweep(Rank nearest);

private:
    static constexpr bool kSends = Mode::kInitiator == Initiator::sender;
    static constexpr bool kFlags = Mode::kArrival == Arrival::flag;

    // Inlined where they run for every message or op: a call would cost as much as they do.
    // True when all are posted.
    [[gnu::always_inline]] inline bool post_receives();
    [[gnu::always_inline]] inline bool post_sends();
    [[gnu::noinline]] bool post_asking(std::uint64_t label);
    std::uint64_t asked_flags() const {
        return settings_.inject == Inject::counted ? FI_INJECT | FI_COMPLETION : FI_COMPLETION;
    }
    // In modes that tell by flags. True when all messages and their flags are posted.
    bool post_with_flags();
    bool post_flags(); // of the messages that are ready for them
    bool take_flags(); // true when one was new
    Moments run_with_flags();
    template <class PostOne>
    [[gnu::always_inline]] inline bool post_each(const Route*& at, const Route* end, const char* call,
                                                 PostOne post_one);
    enum class Sleep { allowed, never };
    template <Sleep kSleep>
    [[gnu::always_inline]] inline ssize_t read_queue();
    template <Sleep kSleep>
    [[gnu::always_inline]] inline bool poll();
    [[gnu::always_inline]] inline void account(ssize_t count); // of at least one
    [[gnu::noinline]] void note_arrivals(ssize_t count);
    [[gnu::always_inline]] inline void count_down(Kind kind, std::int32_t by = 1);
    // Where completions belong: what slot_of() reads for every one of them.
    struct Places {
        const Slot* first;
        std::size_t ranks;
        std::size_t sends;
        std::uint64_t op; // what the data of this op's messages have besides their source
    };
    Places places() const {
        std::uint64_t op = 0;
        if constexpr (carries_data(Mode::kArrival)) op = message_data(op_, 0);
        return {slots_.data(), ranks_, known_slots_ - ranks_, op};
    }
    [[gnu::always_inline]] static inline std::size_t slot_of(const fi_cq_data_entry& entry, const Places& places);
    // A function of its own, so that what waiting costs can be told from what messages cost.
    [[gnu::noinline]] ssize_t await_completions();
    [[gnu::noinline]] void count_early();
    [[gnu::noinline]] void post_the_rest_of_receives();
    [[gnu::noinline]] void post_the_rest();
    // Until the provider has room.
    template <class TryOnce>
    void retry(const char* call, Rank peer, TryOnce try_once);
};

template <TransferMode Mode>
void Exchange<Mode>::begin(std::uint64_t op) {
    op_ = op;
    next_receive_ = settings_.posts_receives ? receives_.data() : receives_end();
    next_send_ = sends_.data();
    left_ = total_;
    kinds_left_ = kinds_;
    std::fill(extra_completions_.begin(), extra_completions_.end(), kDue);
    if constexpr (kFlags) {
        ready_.clear();
        told_ = 0;
        unseen_ = sources_.size();
    }
    if constexpr (Mode::kArrival == Arrival::data)
        if (settings_.follows_on) [[unlikely]]
            count_early();
}

// What came in the op before.
template <TransferMode Mode>
void Exchange<Mode>::count_early() {
    for (std::size_t source = 0; source < ranks_; ++source) {
        if (early_[source] == 0) continue;
        early_[source] = 0;
        ++extra_completions_[source];
        count_down(arrival);
    }
}

template <TransferMode Mode>
void Exchange<Mode>::post_all_receives() {
    if constexpr (!kSends || kFlags) return;
    if (!post_receives()) [[unlikely]]
        post_the_rest_of_receives();
}

// Where the provider's queue has room for a part only.
template <TransferMode Mode>
void Exchange<Mode>::post_the_rest_of_receives() {
    deadline_->reset();
    while (!post_receives())
        if (!progress() && !deadline_->idle()) fail(-FI_ETIMEDOUT, "posting receives", context_.self);
}

// Calls post_one(route) for the routes from `at` up to `end`, and moves `at` on; stops where the provider has no
// room. What changes with every message is kept out of memory, which the calls might write to for all the compiler
// knows.
template <TransferMode Mode>
template <class PostOne>
bool Exchange<Mode>::post_each(const Route*& at, const Route* end, const char* call, PostOne post_one) {
    const Route* route = at;
    ssize_t status = 0;
    for (; route < end; ++route)
        if ((status = post_one(*route)) != 0) [[unlikely]]
            break;
    at = route;
    if (status != 0 && status != -FI_EAGAIN) fail(status, call, route->peer);
    return status == 0;
}

template <TransferMode Mode>
bool Exchange<Mode>::post_receives() {
    if constexpr (kFlags) {
        return true;
    } else {
        const Route* const end = kSends ? receives_end() : window_end(receives_, arrival);
        const bool is_all =
            post_each(next_receive_, end, kSends ? "posting a receive" : "reading",
                      [this, op = op_](const Route& from) { return Mode::receive(context_, from, op); });
        return kSends ? is_all : is_all && end == receives_end();
    }
}

template <TransferMode Mode>
bool Exchange<Mode>::post_sends() {
    if constexpr (!kSends) {
        return true;
    } else {
        const auto label = Mode::label(context_, op_);
        if (settings_.inject == Inject::silent) {
            const Route* const before = next_send_;
            const bool is_all = post_each(next_send_, sends_end(), "sending", [this, label](const Route& to) {
                return Mode::inject(context_, to, label);
            });
            // An injected message's buffer is free at once and completes nowhere.
            if (next_send_ != before) count_down(send, static_cast<std::int32_t>(next_send_ - before));
            return is_all;
        }
        if (settings_.inject >= Inject::counted) [[unlikely]]
            return post_asking(label);
        const Route* const end = window_end(sends_, send);
        return post_each(next_send_, end, "sending",
                         [this, label](const Route& to) { return Mode::send(context_, to, label); }) &&
               end == sends_end();
    }
}

// With completions, so that the window counts these too.
template <TransferMode Mode>
bool Exchange<Mode>::post_asking(std::uint64_t label) {
    const Route* const end = window_end(sends_, send);
    const auto post = [this, label, flags = asked_flags()](const Route& to) {
        return Mode::post(context_, to, label, flags);
    };
    return post_each(next_send_, end, "sending", post) && end == sends_end();
}

// The place in slots_ of what has completed; an arrival that came without a receive counts as its source's. Beyond
// all places when it belongs to none.
template <TransferMode Mode>
std::size_t Exchange<Mode>::slot_of(const fi_cq_data_entry& entry, const Places& places) {
    const auto slot = static_cast<std::size_t>(static_cast<const Slot*>(entry.op_context) - places.first);
    // Our own slots first: some providers flag the completion of a write that carries data like its arrival.
    if constexpr (Mode::kArrival == Arrival::data)
        if (slot - places.ranks >= places.sends && (entry.flags & FI_REMOTE_CQ_DATA) != 0) {
            // A message of another op names no source that there is.
            const std::uint64_t source = entry.data ^ places.op;
            return source < places.ranks ? source : SIZE_MAX;
        }
    if constexpr (Mode::kArrival == Arrival::receive_with_data)
        if (slot < places.ranks) {
            const std::uint64_t source = entry.data ^ places.op;
            return source < places.ranks ? source : SIZE_MAX;
        }
    return slot;
}

// A message has arrived when the queue says so: all that one reading brings arrive at once.
template <TransferMode Mode>
void Exchange<Mode>::note_arrivals(ssize_t count) {
    const Nanoseconds now = now_ns();
    for (const fi_cq_data_entry& entry : std::span(entries_).first(static_cast<std::size_t>(count)))
        if (const std::size_t source = slot_of(entry, places()); source < ranks_) {
            arrived_at_[source] = now;
            if constexpr (Mode::kArrival == Arrival::receive_with_data) note_place(source, entry.op_context);
        }
}

template <TransferMode Mode>
void Exchange<Mode>::account(ssize_t count) {
    if (settings_.traces) [[unlikely]]
        note_arrivals(count);
    // Kept out of memory, as in post_each().
    const Places places = this->places();
    std::int32_t* const extra_completions = extra_completions_.data();
    const fi_cq_data_entry* entry = entries_.data();
    const fi_cq_data_entry* const end = entry + count;
    do {
        const std::size_t slot = slot_of(*entry, places);
        if (slot >= places.ranks + places.sends) [[unlikely]] {
            if constexpr (Mode::kArrival == Arrival::data)
                take_other(slot, *entry);
            else
                take_stray(slot);
            continue;
        }
        // Counted twice, one of them would end the op before another one is here.
        if (++extra_completions[slot] != 0) [[unlikely]]
            fail_double(slot);
        if constexpr (kFlags)
            if (settings_.flag_behind == FlagBehind::delivery) ready_.push_back(&sends_[slot - places.ranks]);
        if (slot < places.ranks)
            count_down(arrival);
        else
            count_down(send);
    } while (++entry != end);
}

template <TransferMode Mode>
void Exchange<Mode>::count_down(Kind kind, std::int32_t by) {
    if ((left_[kind] -= by) != 0) return;
    completed_at_[kind] = now_ns();
    --kinds_left_;
}

// How many completions are in entries_; 0 when none came.
template <TransferMode Mode>
template <typename Exchange<Mode>::Sleep kSleep>
ssize_t Exchange<Mode>::read_queue() {
    constexpr int kSleepMs = 10; // short, for the deadline's sake
    const bool sleeps = kSleep == Sleep::allowed && deadline_->polling() == Polling::block;
    const ssize_t count = sleeps ? fi_cq_sread(queue_, entries_.data(), kBatch, nullptr, kSleepMs)
                                 : fi_cq_read(queue_, entries_.data(), kBatch);
    if (count > 0) return count;
    // A wait is interrupted when the process was stopped and goes on.
    if (count != -FI_EAGAIN) [[unlikely]]
        if (count != -FI_EINTR && count != 0) fail_completion(count);
    return 0;
}

template <TransferMode Mode>
template <typename Exchange<Mode>::Sleep kSleep>
bool Exchange<Mode>::poll() {
    const ssize_t count = read_queue<kSleep>();
    bool has_flags = false;
    if constexpr (kFlags) has_flags = take_flags();
    if (count == 0 && !has_flags) return false;
    if (!kFlags || count != 0) account(count);
    deadline_->reset();
    return true;
}

template <TransferMode Mode>
ssize_t Exchange<Mode>::await_completions() {
    deadline_->reset();
    ssize_t count = 0;
    do {
        if (!deadline_->idle()) fail_timeout();
    } while ((count = read_queue<Sleep::allowed>()) == 0);
    return count;
}

template <TransferMode Mode>
Moments Exchange<Mode>::run() {
    if constexpr (kFlags) return run_with_flags();
    if (next_receive_ != receives_end()) post_receives();
    if (!post_sends() || next_receive_ != receives_end()) [[unlikely]]
        post_the_rest();
    while (!is_over()) {
        const ssize_t count = read_queue<Sleep::never>();
        account(count > 0 ? count : await_completions());
    }
    return moments();
}

template <TransferMode Mode>
void Exchange<Mode>::post() {
    if constexpr (kFlags) {
        (void)post_with_flags();
    } else {
        (void)post_receives();
        (void)post_sends();
    }
}

template <TransferMode Mode>
bool Exchange<Mode>::advance() {
    const bool is_new = poll<Sleep::never>();
    post();
    return is_new;
}

// Where the window or the provider's queues have room for a part only.
template <TransferMode Mode>
void Exchange<Mode>::post_the_rest() {
    deadline_->reset();
    bool has_all = false;
    while (!has_all) {
        if (!poll<Sleep::allowed>() && !deadline_->idle()) fail_timeout();
        has_all = post_receives();
        has_all = post_sends() && has_all;
    }
}

} // namespace a2aperf

#include "a2aperf/measure/exchange_flags.hpp"
#include "a2aperf/measure/exchange_puts.hpp"
#include "a2aperf/measure/exchange_strays.hpp"
