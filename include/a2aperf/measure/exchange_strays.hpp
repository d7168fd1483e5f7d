// SPDX-License-Identifier: BSD-3-Clause
// The part of an exchange that verification has beside: receives for messages that should not come.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "a2aperf/measure/exchange.hpp"

namespace a2aperf {

template <TransferMode Mode>
template <class TryOnce>
void Exchange<Mode>::retry(const char* call, Rank peer, TryOnce try_once) {
    deadline_->reset();
    ssize_t status = 0;
    while ((status = try_once()) == -FI_EAGAIN)
        if (!progress() && !deadline_->idle()) break;
    if (status != 0) fail(status, call, peer);
}

template <TransferMode Mode>
void Exchange<Mode>::post_strays(std::byte* space, void* descriptor) {
    if constexpr (posts_receives(Mode::kArrival)) {
        const bool is_for_any = settings_.strays == Strays::from_any;
        strays_.clear();
        if (is_for_any)
            strays_.push_back(context_.self);
        else
            for (const Route& from : receives_) strays_.push_back(from.peer);
        strays_left_ = static_cast<std::uint32_t>(strays_.size());
        Slot* slot = &slots_[known_slots_];
        for (const Rank source : strays_) {
            retry("posting a receive for strays", source, [&] {
                if constexpr (Mode::kArrival == Arrival::receive)
                    if (!is_for_any)
                        return Mode::receive_into(context_, context_.from(source, slot), op_, space, descriptor);
                return Mode::receive_any(context_, op_, space, descriptor, slot);
            });
            ++slot;
        }
    }
}

template <TransferMode Mode>
void Exchange<Mode>::sweep(Rank nearest) {
    if constexpr (posts_receives(Mode::kArrival)) {
        std::vector<Rank> targets{nearest};
        if (settings_.strays == Strays::from_each) {
            targets.clear();
            for (const Route& to : sends_) targets.push_back(to.peer);
        }
        left_[send] = static_cast<std::int32_t>(targets.size());
        std::fill(extra_completions_.begin() + static_cast<std::ptrdiff_t>(ranks_), extra_completions_.end(), kDue);
        Slot* slot = &slots_[ranks_]; // of sends that are over
        for (const Rank peer : targets) {
            const Route to = context_.to(peer, slot);
            const auto label = Mode::label(context_, op_);
            retry("sending", peer, [&] {
                return endpoint_->completions() == Completions::asked
                           ? Mode::post(context_, to, label, FI_COMPLETION)
                           : Mode::send(context_, to, label);
            });
            ++slot;
        }
        deadline_->reset();
        while (strays_left_ > 0 || left_[send] > 0)
            if (!progress() && !deadline_->idle()) fail_timeout();
    }
}

} // namespace a2aperf
