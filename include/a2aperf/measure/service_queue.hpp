// SPDX-License-Identifier: BSD-3-Clause
// Messages that a relay has taken and not yet sent on: it serves one at a time, each for the same time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

#include "a2aperf/base/units.hpp"

namespace a2aperf {

// A service begins with the message, or with the end of the one before it, however late somebody looks: one that is
// sent on late holds up none behind it.
class ServiceQueue {
public:
    // For at most so many messages at a time.
    ServiceQueue(Nanoseconds service_time, std::size_t most) : service_time_(service_time), messages_(most) {}

    void take(int place, Nanoseconds now) {
        free_at_ = std::max(free_at_, now) + service_time_;
        messages_[(first_ + count_) % messages_.size()] = {place, free_at_};
        ++count_;
    }
    bool is_empty() const { return count_ == 0; }
    bool is_served(Nanoseconds now) const { return count_ > 0 && messages_[first_].end <= now; }
    // The first one's place.
    int pop() {
        const int place = messages_[first_].place;
        first_ = (first_ + 1) % messages_.size();
        --count_;
        return place;
    }

private:
    struct Message {
        int place;
        Nanoseconds end; // of its service
    };
    Nanoseconds service_time_;
    Nanoseconds free_at_ = std::numeric_limits<Nanoseconds>::min();
    std::vector<Message> messages_; // a ring
    std::size_t first_ = 0, count_ = 0;
};

} // namespace a2aperf
