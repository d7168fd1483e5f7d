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

struct ExchangeSettings {
    int window = 0;           // outstanding sends; 0 = all
    bool uses_inject = false; // the message fits the provider's inject size
    bool posts_receives = true;
    bool catches_strays = true; // in verification ops
};

// Mode is a transfer mode (transfer/modes.hpp). Slots [0, R) belong to the receives from each rank, those above
// to the sends in their order, and one more to the sweep.
template <class Mode>
class Exchange {
public:
    // sends and receives: peers in the order of posting.
    Exchange(const Lane& lane, const Endpoint& endpoint, const std::vector<Rank>& sends,
             const std::vector<Rank>& receives, ExchangeSettings settings, Patience& patience);

    // Before the start: forgets the last op. Receives are posted here, or by run().
    void begin(std::uint64_t op);
    void post_all_receives();

    // The timed part. Throws RunError that names who waits for whom.
    Moments run();

    // Reads the completion queue once; between ops it keeps peers going. True when something was there.
    bool progress() { return poll<false>(); }

    // In the op at hand: how often a message of each rank has arrived, [R].
    const std::vector<std::uint32_t>& arrivals() const { return arrivals_; }

    // A receive for any message of this op that is one too many; its arrival counts as one of our own rank's.
    // sweep() takes it up: every rank sends one of its messages once more, so that each has one too many. Nothing
    // happens in modes that post no receives: they see every arrival.
    void post_stray(std::byte* space, void* descriptor);
    void sweep(Rank to);

    std::string waiting_for() const; // "messages from rank 1, 4 and its sends to rank 2"

private:
    static constexpr std::size_t kBatch = 16;

    void post_receives();
    void post_sends();
    bool is_posted() const { return receives_posted_ == receives_total_ && sent_ == sends_total_; }
    bool is_over() const { return sends_left_ <= 0 && arrivals_left_ <= 0; }
    // Inlined where they run for every message: a call would cost as much as they do.
    template <bool kMayBlock>
    [[gnu::always_inline]] inline bool poll();
    [[gnu::always_inline]] inline void account(const fi_cq_data_entry& entry);
    [[noreturn, gnu::cold, gnu::noinline]] void fail_timeout() const;
    [[noreturn, gnu::cold, gnu::noinline]] void fail_stray(std::size_t source) const;
    [[noreturn, gnu::cold, gnu::noinline]] void fail_completion() const;
    [[noreturn, gnu::cold, gnu::noinline]] void fail(ssize_t status, const char* call, Rank peer) const;
    Slot* receive_slot(Rank peer) { return &slots_[static_cast<std::size_t>(peer)]; }
    Slot* send_slot(std::uint32_t index) { return &slots_[ranks_ + index]; }

    Lane lane_;
    const Endpoint* endpoint_;
    std::vector<Route> sends_;
    std::vector<Route> receives_;
    ExchangeSettings settings_;
    Patience* patience_;
    std::vector<Slot> slots_;
    std::vector<std::uint32_t> arrivals_;         // [R]
    std::vector<std::uint8_t> is_send_under_way_; // by place in sends_
    std::array<fi_cq_data_entry, kBatch> entries_{};
    std::uint64_t op_ = 0;
    std::uint32_t ranks_, sends_total_, receives_total_, window_;
    std::uint32_t receives_posted_ = 0, sent_ = 0;
    std::int32_t sends_left_ = 0, arrivals_left_ = 0; // to complete; below 0 when one too many came
    Moments moments_{0, 0};
};

template <class Mode>
Exchange<Mode>::Exchange(const Lane& lane, const Endpoint& endpoint, const std::vector<Rank>& sends,
                         const std::vector<Rank>& receives, ExchangeSettings settings, Patience& patience)
    : lane_(lane), endpoint_(&endpoint), settings_(settings), patience_(&patience),
      slots_(static_cast<std::size_t>(lane.ranks) + sends.size() + 1),
      arrivals_(static_cast<std::size_t>(lane.ranks)), is_send_under_way_(sends.size() + 1),
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

template <class Mode>
void Exchange<Mode>::post_receives() {
    for (; receives_posted_ < receives_total_; ++receives_posted_) {
        const Route& from = receives_[receives_posted_];
        const ssize_t status = Mode::receive(lane_, from, op_, receive_slot(from.peer));
        if (status == 0) continue;
        if (status == -FI_EAGAIN) return;
        fail(status, "posting a receive", from.peer);
    }
}

template <class Mode>
void Exchange<Mode>::post_sends() {
    for (; sent_ < sends_total_; ++sent_) {
        const Route& to = sends_[sent_];
        ssize_t status = 0;
        if (settings_.uses_inject) {
            status = Mode::inject(lane_, to, op_);
        } else {
            // In flight: all that were sent but those that have completed.
            if (sent_ + static_cast<std::uint32_t>(sends_left_) >= sends_total_ + window_) return;
            status = Mode::send(lane_, to, op_, send_slot(sent_));
        }
        if (status == -FI_EAGAIN) return;
        if (status != 0) fail(status, "sending", to.peer);
        if (!settings_.uses_inject)
            is_send_under_way_[sent_] = 1;
        else if (--sends_left_ == 0) // an injected message's buffer is free at once and completes nowhere
            moments_.send_done = now_ns();
    }
}

template <class Mode>
void Exchange<Mode>::account(const fi_cq_data_entry& entry) {
    // Our own slots first: some providers flag the completion of a write that carries data like its arrival.
    const auto slot = static_cast<std::size_t>(static_cast<const Slot*>(entry.op_context) - slots_.data());
    if (const std::size_t index = slot - ranks_; index <= sends_total_) { // the last is the sweep's
        is_send_under_way_[index] = 0;
        if (--sends_left_ == 0) moments_.send_done = now_ns();
        return;
    }
    std::size_t source = slot;
    if constexpr (Mode::kAnnouncesByData)
        if ((entry.flags & FI_REMOTE_CQ_DATA) != 0) source = entry.data & kSourceMask;
    if (source >= ranks_) fail_stray(source);
    ++arrivals_[source];
    if (--arrivals_left_ == 0) moments_.receive_done = now_ns();
}

template <class Mode>
template <bool kMayBlock>
bool Exchange<Mode>::poll() {
    constexpr int kSleepMs = 10; // short, for the deadline's sake
    const bool sleeps = kMayBlock && patience_->polling() == Polling::block;
    const ssize_t count = sleeps ? fi_cq_sread(endpoint_->queue(), entries_.data(), kBatch, nullptr, kSleepMs)
                                 : fi_cq_read(endpoint_->queue(), entries_.data(), kBatch);
    if (count > 0) {
        for (ssize_t i = 0; i < count; ++i) account(entries_[static_cast<std::size_t>(i)]);
        patience_->reset();
        return true;
    }
    if (count != -FI_EAGAIN && count != 0) fail_completion();
    return false;
}

template <class Mode>
Moments Exchange<Mode>::run() {
    patience_->reset();
    // Messages of ranks that began before us may all be here; they count from our own start.
    if (arrivals_left_ <= 0) moments_.receive_done = now_ns();
    while (!is_posted()) {
        if (receives_posted_ < receives_total_) post_receives();
        post_sends();
        if (is_posted()) break;
        if (!poll<true>() && !patience_->idle()) fail_timeout();
    }
    while (!is_over())
        if (!poll<true>() && !patience_->idle()) fail_timeout();
    return moments_;
}

template <class Mode>
void Exchange<Mode>::post_stray(std::byte* space, void* descriptor) {
    if constexpr (Mode::kPostsReceives) {
        patience_->reset();
        ssize_t status = 0;
        while ((status = Mode::receive_stray(lane_, op_, space, descriptor, receive_slot(lane_.self))) ==
               -FI_EAGAIN)
            if (!progress() && !patience_->idle()) break;
        if (status != 0) fail(status, "posting a receive for strays", lane_.self);
    }
}

template <class Mode>
void Exchange<Mode>::sweep(Rank to) {
    if constexpr (Mode::kPostsReceives) {
        patience_->reset();
        ssize_t status = 0;
        while ((status = Mode::send(lane_, lane_.to(to), op_, send_slot(sends_total_))) == -FI_EAGAIN)
            if (!progress() && !patience_->idle()) break;
        if (status != 0) fail(status, "sending", to);
        is_send_under_way_[sends_total_] = 1;
        while (arrivals_[static_cast<std::size_t>(lane_.self)] == 0 || is_send_under_way_[sends_total_] != 0)
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
        if (i >= sent_ || is_send_under_way_[i] != 0) targets.push_back(sends_[i].peer);
    std::string text;
    if (!sources.empty()) text = fmt::format("messages from rank {}", fmt::join(sources, ", "));
    if (!targets.empty())
        text += fmt::format("{}its sends to rank {}", text.empty() ? "" : " and ", fmt::join(targets, ", "));
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
void Exchange<Mode>::fail_completion() const {
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
