// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/measure/exchange_state.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "a2aperf/base/error.hpp"
#include "a2aperf/fabric/call_error.hpp"

namespace a2aperf {
namespace {

// One at least where a sweep may send, though the op sends nothing.
std::size_t send_slots(Arrival way, const std::vector<Rank>& sends) {
    return std::max<std::size_t>(sends.size(), posts_receives(way) ? 1 : 0);
}

} // namespace

ExchangeState::ExchangeState(const TransferContext& context, const Endpoint& endpoint, Arrival way,
                             const std::vector<Rank>& sends, const std::vector<Rank>& receives,
                             ExchangeSettings settings, Deadline& deadline)
    : context_(context), endpoint_(&endpoint), queue_(endpoint.queue()), arrival_(way),
      settings_(std::move(settings)), deadline_(&deadline), ranks_(static_cast<std::size_t>(context.ranks)),
      slots_(ranks_ + send_slots(way, sends) + std::max<std::size_t>(receives.size(), 1)),
      extra_completions_(ranks_ + send_slots(way, sends), kDue), arrived_at_(settings_.traces ? ranks_ : 0, -1),
      early_(settings_.follows_on ? ranks_ : 0, 0), known_slots_(extra_completions_.size()) {
    for (const Rank peer : sends) sends_.push_back(context.to(peer, &slots_[ranks_ + sends_.size()]));
    for (const Rank peer : receives)
        receives_.push_back(context.from(peer, &slots_[static_cast<std::size_t>(peer)]));
    for (Rank peer = 0; peer < context.ranks; ++peer) places_.push_back(context.from(peer, nullptr).message);
    if (arrival_ == Arrival::flag) {
        for (const Route& from : receives_) sources_.push_back(&from);
        ready_.reserve(sends_.size());
    }
    next_send_ = sends_end();
    next_receive_ = receives_end();
    total_ = {static_cast<std::int32_t>(receives.size()), static_cast<std::int32_t>(sends.size())};
    kinds_ = static_cast<int>(std::count_if(total_.begin(), total_.end(), [](auto total) { return total > 0; }));
}

std::vector<std::uint32_t> ExchangeState::arrivals() const {
    std::vector<std::uint32_t> counts(ranks_);
    std::transform(extra_completions_.begin(), extra_completions_.begin() + static_cast<std::ptrdiff_t>(ranks_),
                   counts.begin(), [](std::int32_t extra_completions) {
                       return static_cast<std::uint32_t>(extra_completions - kDue);
                   });
    // Of a source from which nothing is due, too.
    if (arrival_ == Arrival::flag)
        for (Rank source = 0; source < context_.ranks; ++source)
            if (has_flag(source)) counts[static_cast<std::size_t>(source)] = 1;
    return counts;
}

bool ExchangeState::has_flag(Rank source) const {
    // The message is read after it.
    return std::atomic_ref(context_.flags[source]).load(std::memory_order_acquire) == op_;
}

std::byte* ExchangeState::place_of(Rank source) const {
    return places_[static_cast<std::size_t>(source)];
}

void ExchangeState::note_place(std::size_t source, const void* context) {
    const auto taker = static_cast<Rank>(static_cast<const Slot*>(context) - slots_.data());
    places_[source] = context_.from(taker, nullptr).message;
}

void ExchangeState::take_stray(std::size_t slot) {
    const std::size_t place = slot - known_slots_;
    if (place >= strays_.size())
        throw RunError(
            fmt::format("{}: a completion that belongs to no operation, or a message of another op or rank",
                        op_name()),
            EndReason::bad_data);
    ++extra_completions_[static_cast<std::size_t>(strays_[place])];
    --strays_left_;
}

void ExchangeState::take_other(std::size_t slot, const fi_cq_data_entry& entry) {
    const std::uint64_t source = entry.data ^ message_data(op_ + 1, 0);
    const bool is_early = (entry.flags & FI_REMOTE_CQ_DATA) != 0 && source < early_.size() && early_[source] == 0;
    if (!is_early) return take_stray(slot);
    early_[source] = 1;
}

std::string ExchangeState::op_name() const {
    const auto stages = static_cast<std::uint64_t>(settings_.stages);
    const std::uint64_t op = op_ / stages;
    const std::string name = settings_.names != nullptr ? settings_.names->of(op) : fmt::format("op {}", op);
    return stages == 1 ? name : fmt::format("{}, stage {} of {}", name, op_ % stages + 1, stages);
}

std::string ExchangeState::name_of(Rank index) const {
    if (context_.chunks == 1) return fmt::format("rank {}", index);
    return fmt::format("rank {} (chunk {})", index / context_.chunks, index % context_.chunks);
}

std::string ExchangeState::waiting_for() const {
    std::vector<Rank> sources;
    std::vector<Rank> targets;
    // Chunks of a message follow one another.
    const auto add = [&](std::vector<Rank>& ranks, Rank index) {
        const Rank rank = index / context_.chunks;
        if (ranks.empty() || ranks.back() != rank) ranks.push_back(rank);
    };
    for (const Route& from : receives_)
        if (extra_completions_[static_cast<std::size_t>(from.peer)] == kDue) add(sources, from.peer);
    for (const Route& to : sends_) {
        const bool is_done = settings_.inject == Inject::silent ||
                             extra_completions_[static_cast<std::size_t>(to.slot - slots_.data())] != kDue;
        const bool is_untold =
            std::find(ready_.begin() + static_cast<std::ptrdiff_t>(told_), ready_.end(), &to) != ready_.end();
        if (&to >= next_send_ || !is_done || is_untold) add(targets, to.peer);
    }
    std::string text;
    if (!sources.empty()) text = fmt::format("messages from rank {}", fmt::join(sources, ", "));
    if (!targets.empty())
        text += fmt::format("{}its sends to rank {}", text.empty() ? "" : " and ", fmt::join(targets, ", "));
    if (text.empty() && strays_left_ > 0) text = "the message that takes up its receive for strays";
    return text.empty() ? "nothing" : text;
}

void ExchangeState::fail_timeout() const {
    throw RunError(fmt::format("{}: nothing happened for {}; it waits for {}", op_name(),
                               format_duration(deadline_->waited()), waiting_for()),
                   EndReason::fabric_deadline);
}

void ExchangeState::fail_completion(ssize_t status) const {
    if (status != -FI_EAVAIL) fail_queue(op_name(), status, waiting_for());
    fail_completion(endpoint_->take_error());
}

void ExchangeState::fail_completion(const CompletionError& error) const {
    const auto index = static_cast<std::size_t>(static_cast<const Slot*>(error.context) - slots_.data());
    std::string what = "an operation";
    if (index < ranks_)
        what = takes_by_source(arrival_)
                   ? fmt::format("the {} from {}", arrival_ == Arrival::read ? "read" : "receive",
                                 name_of(static_cast<Rank>(index)))
                   : "a receive";
    else if (index - ranks_ < sends_.size())
        what = fmt::format("the send to {}", name_of(sends_[index - ranks_].peer));
    fail_operation(op_name(), what, error, waiting_for());
}

void ExchangeState::fail_double(std::size_t slot) const {
    const bool is_arrival = slot < ranks_;
    const std::size_t place = slot - ranks_; // among the sends
    if (!is_arrival && place >= sends_.size())
        throw RunError(fmt::format("{}: the send of a sweep completed twice", op_name()), EndReason::bad_data);
    if (arrival_ == Arrival::read)
        throw RunError(
            fmt::format("{}: the read from {} completed twice", op_name(), name_of(static_cast<Rank>(slot))),
            EndReason::bad_data);
    throw RunError(fmt::format("{}: {} {} completed twice: sent twice, to the wrong rank, or in another op",
                               op_name(), is_arrival ? "the message from" : "the send to",
                               name_of(is_arrival ? static_cast<Rank>(slot) : sends_[place].peer)),
                   EndReason::bad_data);
}

void ExchangeState::fail(ssize_t status, const char* call, Rank peer) const {
    fail_call(op_name(), status, call, name_of(peer));
}

} // namespace a2aperf
