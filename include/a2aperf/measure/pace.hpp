// SPDX-License-Identifier: BSD-3-Clause
// When a request may go: at once where a place is free for it, or when it is due.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "a2aperf/base/units.hpp"
#include "a2aperf/measure/echo_settings.hpp"
#include "a2aperf/plan/due_times.hpp"

namespace a2aperf {

struct AtOnce {
    static constexpr bool kIsPaced = false;
    static constexpr bool kIsRelay = false;
    static constexpr bool kHasBothEnds = false;
    struct OfRequest {};
    explicit AtOnce(const EchoSettings&) {}
};

// The requests to one server: when they are due, and the places that are free for them.
class DueQueue {
public:
    explicit DueQueue(const DueRule& rule) : released_times_(rule), fallen_times_(rule) {}

    void reserve(std::size_t places) { free_.reserve(places); }
    // Moments of the clock by which it is asked. At most so many are due; -1 = as many as there are before the end.
    void open(Nanoseconds start, Nanoseconds end, std::int64_t most) {
        start_ = start;
        length_ = end - start;
        most_ = most < 0 ? std::numeric_limits<std::int64_t>::max() : most;
    }

    void free(int place, Nanoseconds now) {
        if (free_.empty()) free_since_ = now;
        free_.push_back(place);
    }

    // The client looks at its servers' queues, then sends what is due. While it does not run nothing comes back for
    // it either: what falls due between two looks, the first of which left a place free, is late by the client
    // alone.
    void begin_look(Nanoseconds now) {
        if (is_free_since_look_) own_until_ = now;
    }
    void end_look() { is_free_since_look_ = !free_.empty(); }

    struct Request {
        int place;
        Nanoseconds due;
        bool is_held_up; // there was no place for it when it fell due, and the client was looking
    };
    // Is one due now, and has a place?
    bool is_due(Nanoseconds now) const {
        return !free_.empty() && released_ < most_ && released_times_.next() < length_ &&
               start_ + released_times_.next() <= now;
    }
    // The next one that is; so many of them are sent.
    Request take(Nanoseconds now, std::int64_t sent) {
        const Nanoseconds due = start_ + released_times_.next();
        look(now, sent);
        released_times_.pop();
        ++released_;
        const int place = free_.back();
        free_.pop_back();
        return {place, due, due < free_since_ && due > own_until_};
    }

    // Counts those that are due by then.
    void look(Nanoseconds now, std::int64_t sent) {
        while (fallen_ < most_ && fallen_times_.next() < length_ && start_ + fallen_times_.next() <= now) {
            fallen_times_.pop();
            ++fallen_;
        }
        most_behind_ = std::max(most_behind_, fallen_ - sent);
    }
    std::int64_t fallen() const { return fallen_; }
    // The most that were due and not sent, whenever it was looked.
    std::int64_t most_behind() const { return most_behind_; }
    // For how long they came at the rate.
    Nanoseconds passed() const { return fallen_ == most_ ? fallen_times_.passed() : length_; }

private:
    DueTimes released_times_, fallen_times_; // the same ones: those that have a place, and those that are due
    std::int64_t released_ = 0, fallen_ = 0, most_behind_ = 0;
    Nanoseconds start_ = 0, length_ = 0;
    std::int64_t most_ = 0;
    std::vector<int> free_;
    Nanoseconds free_since_ = std::numeric_limits<Nanoseconds>::min();
    Nanoseconds own_until_ = std::numeric_limits<Nanoseconds>::min();
    bool is_free_since_look_ = false;
};

class WhenDue {
public:
    static constexpr bool kIsPaced = true;
    static constexpr bool kIsRelay = false;
    static constexpr bool kHasBothEnds = false;
    // Of one that is under way.
    struct OfRequest {
        Nanoseconds due = 0;
        Nanoseconds waited = 0; // until it was sent
        bool is_held_up = false;
    };
    explicit WhenDue(const EchoSettings& settings) : queues_(settings.due.begin(), settings.due.end()) {}

    std::span<DueQueue> queues() { return queues_; } // of each server

private:
    std::vector<DueQueue> queues_;
};

} // namespace a2aperf
