// SPDX-License-Identifier: BSD-3-Clause
// The credits that the receiver of a stream returns: when the next one is due, and which of them are known to have
// come.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "a2aperf/plan/stream_pairs.hpp"

namespace a2aperf {

// A credit tells how many buffers have been freed since the start. At most kStreamCredits are on the way: a message
// whose number is n tells that its sender has had a credit of n + 1 - window.
//
// Until the first one on the way is known to have come, messages come up to the window beyond the last that is
// known. The credits that can still be sent share them: if each told of one message, a window of more than
// kStreamCredits would be told to the end only a round trip later, and never be full.
class ReturnedCredits {
public:
    explicit ReturnedCredits(std::int64_t window = 1) : window_(window) { look_ahead(); }

    std::int64_t told() const { return told_; }
    // Where the next one goes, of kStreamCredits places.
    std::size_t next() const { return (first_ + count_) % kMost; }

    // Whether anything follows from so many messages heard of and so many buffers freed: mostly not, and asked in
    // each round.
    bool has_news(std::int64_t heard, std::int64_t freed) const { return heard >= next_known_ || is_due(freed); }
    bool is_due(std::int64_t freed) const { return (freed - told_) * left_ >= due_; }
    // It may be told before it is due.
    bool may_tell(std::int64_t freed) const { return freed > told_ && left_ > 0; }

    void hear(std::int64_t heard) {
        while (heard >= next_known_) {
            known_ = telling_[first_];
            first_ = (first_ + 1) % kMost;
            --count_;
            look_ahead();
        }
    }
    // One was sent.
    void tell(std::int64_t freed) {
        telling_[next()] = freed;
        ++count_;
        told_ = freed;
        look_ahead();
    }

private:
    static constexpr std::size_t kMost = kStreamCredits;

    // What holds until the next one is told, or known to have come.
    void look_ahead() {
        next_known_ = count_ > 0 ? telling_[first_] + window_ : std::numeric_limits<std::int64_t>::max();
        left_ = static_cast<std::int64_t>(kMost - count_);
        due_ = std::max<std::int64_t>(known_ + window_ - told_, 1); // nothing to tell is never due
    }

    std::int64_t window_;
    std::int64_t told_ = 0;
    std::int64_t known_ = 0; // told, and it is known to have come
    std::int64_t next_known_ = 0, left_ = 0, due_ = 0;
    std::array<std::int64_t, kMost> telling_{}; // not known to have come
    std::size_t first_ = 0, count_ = 0;
};

} // namespace a2aperf
