// SPDX-License-Identifier: BSD-3-Clause
// The part of an exchange that modes have which tell by flags (transfer/mode.hpp).
#pragma once

#include <utility>

#include "a2aperf/measure/exchange.hpp"

namespace a2aperf {

template <TransferMode Mode>
bool Exchange<Mode>::post_flags() {
    const std::uint64_t label = Mode::label(context_, op_);
    for (; told_ < ready_.size(); ++told_) {
        const Route& to = *ready_[told_];
        const ssize_t status = Mode::tell(context_, to, label);
        if (status == -FI_EAGAIN) return false;
        if (status != 0) fail(status, "writing a flag", to.peer);
    }
    return true;
}

// Each message's flag goes right behind it, and not behind all of them.
template <TransferMode Mode>
bool Exchange<Mode>::post_with_flags() {
    const bool is_silent = settings_.inject == Inject::silent;
    const bool is_ordered = settings_.flag_behind == FlagBehind::post;
    const Route* const end = is_silent ? sends_end() : window_end(sends_, send);
    const auto label = Mode::label(context_, op_);
    while (post_flags() && next_send_ < end) {
        const Route& to = *next_send_;
        const ssize_t status = !is_ordered ? Mode::send_delivered(context_, to)
                               : is_silent ? Mode::inject(context_, to, label)
                               : settings_.inject >= Inject::counted
                                   ? Mode::post(context_, to, label, asked_flags())
                                   : Mode::send(context_, to, label);
        if (status == -FI_EAGAIN) return false;
        if (status != 0) fail(status, "sending", to.peer);
        if (is_ordered) ready_.push_back(&to);
        ++next_send_;
        if (is_silent) count_down(send);
    }
    return told_ == sends_.size();
}

// The order of those that are yet to be seen does not matter.
template <TransferMode Mode>
bool Exchange<Mode>::take_flags() {
    const std::size_t before = unseen_;
    for (std::size_t i = 0; i < unseen_;) {
        const Rank source = sources_[i]->peer;
        if (!has_flag(source)) {
            ++i;
            continue;
        }
        std::swap(sources_[i], sources_[--unseen_]);
        ++extra_completions_[static_cast<std::size_t>(source)];
        if (settings_.traces) [[unlikely]] {
            arrived_at_[static_cast<std::size_t>(source)] = now_ns();
            if (settings_.on_flag) settings_.on_flag(source);
        }
        count_down(arrival);
    }
    return unseen_ != before;
}

// Without sleep: no flag wakes who sleeps on the queue.
template <TransferMode Mode>
Moments Exchange<Mode>::run_with_flags() {
    deadline_->reset();
    bool has_all = post_with_flags();
    while (!has_all || !is_over()) {
        if (!poll<Sleep::never>() && !deadline_->idle()) fail_timeout();
        if (!has_all) has_all = post_with_flags();
    }
    return {completed_at_[send], completed_at_[arrival]};
}

} // namespace a2aperf
