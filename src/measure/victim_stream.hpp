// SPDX-License-Identifier: BSD-3-Clause
// Victims that do not make round trips: streams without a pause.
#pragma once

#include <array>
#include <cmath>

#include "a2aperf/base/clock.hpp"
#include "a2aperf/measure/credit_stream.hpp"
#include "a2aperf/measure/interference.hpp"
#include "interference_rows.hpp"
#include "interference_side.hpp"

namespace a2aperf {

// Silent while the load is measured alone.
//
// A receiver of a stream looks at what came in slices of time: from one message to the first that comes when the
// gap is over, or to a later one where many are read at once. Its sample is the time of a window of messages at the
// slice's rate. A slice that would reach into the next phase, or from what is not settled into what is, is none:
// the next begins there.
template <class Mode>
class VictimStream : public InterferenceSide<CreditStream<Mode>> {
    using InterferenceSide<CreditStream<Mode>>::flow_;

public:
    static constexpr std::array<std::string_view, 2> kCounters{"sent", "received"};

    VictimStream(const Job& job, Channel& channel, Bytes size, const StreamSettings& settings,
                 const InterferencePlan& plan)
        : InterferenceSide<CreditStream<Mode>>(job, channel, size, settings), phases_(plan.phases), gap_(plan.gap),
          window_(plan.victim_window) {
        if (!settings.from.empty())
            role_ = RankRole::client;
        else if (!settings.to.empty())
            role_ = RankRole::server;
    }

    RankRole role() const { return role_; }
    void reserve(std::size_t most_samples) { times_.reserve(role_ == RankRole::client ? most_samples : 0); }
    void open(Nanoseconds start, Nanoseconds) {
        start_ = start;
        next_ = start + phases_.begin(1);
    }
    bool advance() {
        if (role_ == RankRole::idle) return flow_.progress();
        if (!is_open_) {
            if (now_ns() < next_) return flow_.progress();
            is_open_ = true;
        }
        const bool has_moved = flow_.advance();
        if (received() != seen_) look();
        return has_moved;
    }
    std::int64_t lost() const { return times_.lost(); }

    InterferenceRows rows() const { return times_.rows(start_, phases_); }

private:
    std::int64_t received() const { return flow_.totals()[1]; }

    // Of a receiver, when messages came.
    void look() {
        seen_ = received();
        const Nanoseconds now = now_ns();
        if (begin_ != kNoMoment && now < end_of_kind_) {
            if (now < begin_ + gap_) return;
            const auto time =
                static_cast<double>(now - begin_) * window_ / static_cast<double>(seen_ - seen_at_begin_);
            times_.keep(begin_, static_cast<Nanoseconds>(std::llround(time)));
        }
        begin_ = now;
        seen_at_begin_ = seen_;
        end_of_kind_ = start_ + phases_.end_of_kind(now - start_);
    }

    Phases phases_;
    Nanoseconds gap_;
    int window_;
    RankRole role_ = RankRole::idle;
    Nanoseconds start_ = 0, next_ = 0;
    bool is_open_ = false;
    Nanoseconds begin_ = kNoMoment; // of the slice
    Nanoseconds end_of_kind_ = 0;   // of the phase that it is in
    std::int64_t seen_ = 0, seen_at_begin_ = 0;
    VictimTimes times_;
};

} // namespace a2aperf
