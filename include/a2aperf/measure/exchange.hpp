// SPDX-License-Identifier: BSD-3-Clause
// One all-to-all op of one rank: post, poll, count. The timed loop allocates nothing, locks nothing and throws
// only when the op has failed.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "a2aperf/base/error.hpp"
#include "a2aperf/fabric/endpoint.hpp"
#include "a2aperf/measure/patience.hpp"
#include "a2aperf/transfer/lane.hpp"

namespace a2aperf {

// When each half of an op was over, on this rank's clock.
struct Moments {
    Nanoseconds send_done;
    Nanoseconds receive_done;
};

// In verification ops: receives for what is one too many.
enum class Strays {
    from_any, // one, for a message of any rank
    from_each // one for each rank, where the provider must not be given a wildcard
};

struct ExchangeSettings {
    int window = 0;           // outstanding sends; 0 = all
    bool uses_inject = false; // the message fits the provider's inject size
    bool posts_receives = true;
    Strays strays = Strays::from_any;
};

// Mode is a transfer mode (transfer/modes.hpp). Slots [0, R) belong to the receives from each rank, those above
// to the sends in their order, those above to the receives for strays.
template <class Mode>
class Exchange {
public:
    // sends and receives: peers in the order of posting.
    Exchange(const Lane& lane, const Endpoint& endpoint, const std::vector<Rank>& sends,
             const std::vector<Rank>& receives, ExchangeSettings settings, Patience& patience);

    // Before the start: forgets the last op. Receives are posted here, or by run().
    [[gnu::always_inline]] inline void begin(std::uint64_t op);
    [[gnu::always_inline]] inline void post_all_receives();

    // The timed part. Throws RunError that names who waits for whom.
    Moments run();

    // Reads the completion queue once; between ops it keeps peers going. True when something was there.
    bool progress() { return poll<Sleep::never>(); }

    // In the op at hand: how often a message of each rank has arrived, [R].
    const std::vector<std::uint32_t>& arrivals() const { return arrivals_; }

    // Receives for messages of this op that are one too many, behind those that are due; an arrival counts as one
    // of the rank it is for, or as one of our own rank's where it is for any. sweep() takes them up: one message
    // more comes for each of them, sent by its rank or, where any will do, by the nearest. Nothing happens in modes
    // that post no receives: they see every arrival.
    void post_strays(std::byte* space, void* descriptor);
    void sweep(Rank nearest);

    std::string waiting_for() const; // "messages from rank 1, 4 and its sends to rank 2"

private:
    static constexpr std::size_t kBatch = 16;

    bool is_posted() const { return receives_posted_ == receives_total_ && sent_ == sends_total_; }
    bool is_over() const { return sends_left_ <= 0 && arrivals_left_ <= 0; }
    // Inlined where they run for every message or op: a call would cost as much as they do.
    [[gnu::always_inline]] inline void post_receives();
    [[gnu::always_inline]] inline void post_sends();
    template <class PostOne>
    [[gnu::always_inline]] inline void post_each(std::uint32_t& at, std::uint32_t end,
                                                 const std::vector<Route>& routes, const char* call,
                                                 PostOne post_one);
    enum class Sleep { allowed, never };
    template <Sleep kSleep>
    [[gnu::always_inline]] inline ssize_t read_queue();
    template <Sleep kSleep>
    [[gnu::always_inline]] inline bool poll();
    [[gnu::always_inline]] inline void account(ssize_t count);
    [[gnu::always_inline]] inline void account(const fi_cq_data_entry& entry);
    // A function of its own, so that what waiting costs can be told from what messages cost.
    [[gnu::noinline]] ssize_t await_completions();
    [[noreturn, gnu::cold, gnu::noinline]] void fail_timeout() const;
    [[noreturn, gnu::cold, gnu::noinline]] void fail_stray(std::size_t source) const;
    [[noreturn, gnu::cold, gnu::noinline]] void fail_completion(ssize_t status) const;
    [[noreturn, gnu::cold, gnu::noinline]] void fail(ssize_t status, const char* call, Rank peer) const;
    Slot* receive_slot(Rank peer) { return &slots_[static_cast<std::size_t>(peer)]; }
    Slot* send_slot(std::uint32_t index) { return &slots_[ranks_ + index]; }
    [[gnu::cold, gnu::noinline]] void account_stray(std::size_t slot);
    // Until the provider has room.
    template <class TryOnce>
    void insist(const char* call, Rank peer, TryOnce try_once);

    Lane lane_;
    const Endpoint* endpoint_;
    std::vector<Route> sends_;
    std::vector<Route> receives_;
    ExchangeSettings settings_;
    Patience* patience_;
    std::vector<Slot> slots_;
    std::vector<Rank> strays_;                     // the rank that each is for; our own: for any
    std::vector<std::uint32_t> arrivals_;          // [R]
    std::vector<std::uint64_t> send_completed_in_; // the op, by place in sends_
    std::array<fi_cq_data_entry, kBatch> entries_{};
    std::uint64_t op_ = 0;
    std::uint32_t ranks_, sends_total_, receives_total_, window_;
    std::uint32_t receives_posted_ = 0, sent_ = 0, strays_left_ = 0;
    std::int32_t sends_left_ = 0, arrivals_left_ = 0; // to complete; below 0 when one too many came
    Moments moments_{0, 0};
};

template <class Mode>
Exchange<Mode>::Exchange(const Lane& lane, const Endpoint& endpoint, const std::vector<Rank>& sends,
                         const std::vector<Rank>& receives, ExchangeSettings settings, Patience& patience)
    : lane_(lane), endpoint_(&endpoint), settings_(settings), patience_(&patience),
      slots_(static_cast<std::size_t>(lane.ranks) + sends.size() + std::max<std::size_t>(receives.size(), 1)),
      arrivals_(static_cast<std::size_t>(lane.ranks)), send_completed_in_(sends.size()),
      ranks_(static_cast<std::uint32_t>(lane.ranks)), sends_total_(static_cast<std::uint32_t>(sends.size())),
      receives_total_(static_cast<std::uint32_t>(receives.size())),
      window_(settings.window == 0 ? sends_total_ : static_cast<std::uint32_t>(settings.window)) {
    for (const Rank peer : sends) sends_.push_back(lane.to(peer));
    for (const Rank peer : receives) receives_.push_back(lane.from(peer));
}

template <class Mode>
void Exchange<Mode>::begin(std::uint64_t op) {
    op_ = op;
    receives_posted_ = settings_.posts_receives ? 0 : receives_total_;
    sent_ = 0;
    sends_left_ = static_cast<std::int32_t>(sends_total_);
    arrivals_left_ = static_cast<std::int32_t>(receives_total_);
    std::fill(arrivals_.begin(), arrivals_.end(), 0U);
}

template <class Mode>
void Exchange<Mode>::post_all_receives() {
    patience_->reset();
    while (post_receives(), receives_posted_ < receives_total_)
        if (!progress() && !patience_->idle()) fail(-FI_ETIMEDOUT, "posting receives", lane_.self);
}

// Calls post_one(route) for the routes from `at` up to `end`, and moves `at` on; stops where the provider has no
// room. What changes with every message is kept out of memory, which the calls might write to for all the compiler
// knows.
template <class Mode>
template <class PostOne>
void Exchange<Mode>::post_each(std::uint32_t& at, std::uint32_t end, const std::vector<Route>& routes,
                               const char* call, PostOne post_one) {
    const Route* const first = routes.data();
    const Route* const last = first + end;
    const Route* route = first + at;
    ssize_t status = 0;
    for (; route < last; ++route)
        if ((status = post_one(*route)) != 0) [[unlikely]]
            break;
    at = static_cast<std::uint32_t>(route - first);
    if (status != 0 && status != -FI_EAGAIN) fail(status, call, route->peer);
}

template <class Mode>
void Exchange<Mode>::post_receives() {
    post_each(
        receives_posted_, receives_total_, receives_, "posting a receive",
        [this, op = op_](const Route& from) { return Mode::receive(lane_, from, op, receive_slot(from.peer)); });
}

template <class Mode>
void Exchange<Mode>::post_sends() {
    if (settings_.uses_inject) {
        const std::uint32_t before = sent_;
        post_each(sent_, sends_total_, sends_, "sending",
                  [this, op = op_](const Route& to) { return Mode::inject(lane_, to, op); });
        // An injected message's buffer is free at once and completes nowhere.
        sends_left_ -= static_cast<std::int32_t>(sent_ - before);
        if (sends_left_ == 0 && sent_ > before) moments_.send_done = now_ns();
        return;
    }
    // In flight: all that were sent but those that have completed.
    const std::uint32_t completed = sends_total_ - static_cast<std::uint32_t>(sends_left_);
    post_each(sent_, std::min(sends_total_, completed + window_), sends_, "sending",
              [this, op = op_, slot = send_slot(sent_)](const Route& to) mutable {
                  return Mode::send(lane_, to, op, slot++);
              });
}

template <class Mode>
void Exchange<Mode>::account(const fi_cq_data_entry& entry) {
    // Our own slots first: some providers flag the completion of a write that carries data like its arrival.
    const auto slot = static_cast<std::size_t>(static_cast<const Slot*>(entry.op_context) - slots_.data());
    if (const std::size_t index = slot - ranks_; index < sends_total_) {
        send_completed_in_[index] = op_;
        if (--sends_left_ == 0) moments_.send_done = now_ns();
        return;
    }
    std::size_t source = slot;
    if constexpr (Mode::kAnnouncesByData)
        if ((entry.flags & FI_REMOTE_CQ_DATA) != 0) source = entry.data & kSourceMask;
    if (source >= ranks_) return account_stray(source);
    ++arrivals_[source];
    if (--arrivals_left_ == 0) moments_.receive_done = now_ns();
}

// How many completions are in entries_; 0 when none came.
template <class Mode>
template <typename Exchange<Mode>::Sleep kSleep>
ssize_t Exchange<Mode>::read_queue() {
    constexpr int kSleepMs = 10; // short, for the deadline's sake
    const bool sleeps = kSleep == Sleep::allowed && patience_->polling() == Polling::block;
    const ssize_t count = sleeps ? fi_cq_sread(endpoint_->queue(), entries_.data(), kBatch, nullptr, kSleepMs)
                                 : fi_cq_read(endpoint_->queue(), entries_.data(), kBatch);
    if (count > 0) return count;
    // A wait is interrupted when the process was stopped and goes on.
    if (count != -FI_EAGAIN && count != -FI_EINTR && count != 0) fail_completion(count);
    return 0;
}

template <class Mode>
void Exchange<Mode>::account(ssize_t count) {
    for (ssize_t i = 0; i < count; ++i) account(entries_[static_cast<std::size_t>(i)]);
}

template <class Mode>
template <typename Exchange<Mode>::Sleep kSleep>
bool Exchange<Mode>::poll() {
    const ssize_t count = read_queue<kSleep>();
    if (count == 0) return false;
    account(count);
    patience_->reset();
    return true;
}

template <class Mode>
ssize_t Exchange<Mode>::await_completions() {
    patience_->reset();
    for (;;) {
        if (const ssize_t count = read_queue<Sleep::allowed>(); count > 0) return count;
        if (!patience_->idle()) fail_timeout();
    }
}

template <class Mode>
Moments Exchange<Mode>::run() {
    patience_->reset();
    // Messages of ranks that began before us may all be here; they count from our own start.
    if (arrivals_left_ <= 0) moments_.receive_done = now_ns();
    for (;;) {
        if (receives_posted_ < receives_total_) post_receives();
        post_sends();
        if (is_posted()) break;
        if (!poll<Sleep::allowed>() && !patience_->idle()) fail_timeout();
    }
    while (!is_over()) account(await_completions());
    return moments_;
}

template <class Mode>
template <class TryOnce>
void Exchange<Mode>::insist(const char* call, Rank peer, TryOnce try_once) {
    patience_->reset();
    ssize_t status = 0;
    while ((status = try_once()) == -FI_EAGAIN)
        if (!progress() && !patience_->idle()) break;
    if (status != 0) fail(status, call, peer);
}

template <class Mode>
void Exchange<Mode>::post_strays(std::byte* space, void* descriptor) {
    if constexpr (Mode::kPostsReceives) {
        const bool is_for_any = settings_.strays == Strays::from_any;
        strays_.clear();
        if (is_for_any)
            strays_.push_back(lane_.self);
        else
            for (const Route& from : receives_) strays_.push_back(from.peer);
        strays_left_ = static_cast<std::uint32_t>(strays_.size());
        Slot* slot = send_slot(sends_total_);
        for (const Rank source : strays_) {
            insist("posting a receive for strays", source, [&] {
                return is_for_any ? Mode::receive_any(lane_, op_, space, descriptor, slot)
                                  : Mode::receive_into(lane_, lane_.from(source), op_, space, descriptor, slot);
            });
            ++slot;
        }
    }
}

template <class Mode>
void Exchange<Mode>::account_stray(std::size_t slot) {
    const std::size_t place = slot - ranks_ - sends_total_;
    if (place >= strays_.size()) fail_stray(slot);
    ++arrivals_[static_cast<std::size_t>(strays_[place])];
    --strays_left_;
}

template <class Mode>
void Exchange<Mode>::sweep(Rank nearest) {
    if constexpr (Mode::kPostsReceives) {
        std::vector<Rank> targets{nearest};
        if (settings_.strays == Strays::from_each) {
            targets.clear();
            for (const Route& to : sends_) targets.push_back(to.peer);
        }
        sends_left_ = static_cast<std::int32_t>(targets.size());
        Slot* slot = send_slot(0); // those sends are over
        for (const Rank peer : targets) {
            insist("sending", peer, [&] { return Mode::send(lane_, lane_.to(peer), op_, slot); });
            ++slot;
        }
        patience_->reset();
        while (strays_left_ > 0 || sends_left_ > 0)
            if (!progress() && !patience_->idle()) fail_timeout();
    }
}

template <class Mode>
std::string Exchange<Mode>::waiting_for() const {
    std::vector<Rank> sources;
    std::vector<Rank> targets;
    for (const Route& from : receives_)
        if (arrivals_[static_cast<std::size_t>(from.peer)] == 0) sources.push_back(from.peer);
    for (std::size_t i = 0; i < sends_.size(); ++i)
        if (i >= sent_ || (!settings_.uses_inject && send_completed_in_[i] != op_))
            targets.push_back(sends_[i].peer);
    std::string text;
    if (!sources.empty()) text = fmt::format("messages from rank {}", fmt::join(sources, ", "));
    if (!targets.empty())
        text += fmt::format("{}its sends to rank {}", text.empty() ? "" : " and ", fmt::join(targets, ", "));
    if (text.empty() && strays_left_ > 0) text = "the message that takes up its receive for strays";
    return text.empty() ? "nothing" : text;
}

template <class Mode>
void Exchange<Mode>::fail_timeout() const {
    throw RunError(fmt::format("op {}: nothing happened for {}; it waits for {}", op_,
                               format_duration(patience_->timeout()), waiting_for()));
}

template <class Mode>
void Exchange<Mode>::fail_stray(std::size_t source) const {
    throw RunError(fmt::format("op {}: a completion that belongs to no operation (source {})", op_, source));
}

template <class Mode>
void Exchange<Mode>::fail_completion(ssize_t status) const {
    if (status != -FI_EAVAIL)
        throw RunError(fmt::format("op {}: reading the completion queue: {}; it waits for {}", op_,
                                   fi_strerror(static_cast<int>(-status)), waiting_for()));
    const CompletionError error = endpoint_->take_error();
    const auto index = static_cast<std::size_t>(static_cast<const Slot*>(error.context) - slots_.data());
    std::string what = "an operation";
    if (index < ranks_)
        what = fmt::format("the receive from rank {}", index);
    else if (index - ranks_ < sends_.size())
        what = fmt::format("the send to rank {}", sends_[index - ranks_].peer);
    throw RunError(fmt::format("op {}: {} failed: {}; it waits for {}", op_, what, error.text, waiting_for()));
}

template <class Mode>
void Exchange<Mode>::fail(ssize_t status, const char* call, Rank peer) const {
    throw RunError(
        fmt::format("op {}: {} (peer rank {}): {}", op_, call, peer, fi_strerror(static_cast<int>(-status))));
}

} // namespace a2aperf
