// SPDX-License-Identifier: BSD-3-Clause
// Victims that exchange messages with one another: an all-to-all, over and over.
#pragma once

#include <array>

#include "a2aperf/base/clock.hpp"
#include "a2aperf/measure/credit_stream.hpp"
#include "a2aperf/measure/interference.hpp"
#include "interference_rows.hpp"
#include "interference_side.hpp"

namespace a2aperf {

// Silent while the load is measured alone.
//
// A rank's sample is the time from when it begins an op until it has a message from every other victim and every
// other one has told that it has its own. So none is ahead of another by more than one op, and no start needs to be
// agreed: a rank begins when the gap since it last began is over, or when a message tells that another one has.
template <class Mode>
class VictimExchange : public InterferenceSide<CreditStream<Mode>> {
    using InterferenceSide<CreditStream<Mode>>::flow_;

public:
    static constexpr std::array<std::string_view, 2> kCounters{"sent", "received"};

    VictimExchange(const Job& job, Channel& channel, Bytes size, const StreamSettings& settings,
                   const InterferencePlan& plan)
        : InterferenceSide<CreditStream<Mode>>(job, channel, size, settings), phases_(plan.phases), gap_(plan.gap),
          others_(std::ssize(settings.to)) {
        flow_.allow_each(0);
    }

    RankRole role() const { return others_ > 0 ? RankRole::client : RankRole::idle; }
    void reserve(std::size_t most_samples) { times_.reserve(others_ > 0 ? most_samples : 0); }
    void open(Nanoseconds start, Nanoseconds) {
        start_ = start;
        next_ = start + phases_.begin(1);
    }
    // Between two ops, too, credits are returned.
    bool advance() {
        if (others_ > 0 && !is_in_op_ && (is_called() || now_ns() >= next_)) begin();
        const bool has_moved = flow_.advance();
        if (is_in_op_ && has_moved && flow_.has_exchanged(ops_)) end();
        return has_moved;
    }
    std::int64_t lost() const { return times_.lost(); }

    InterferenceRows rows() const { return times_.rows(start_, phases_); }

private:
    // By a message of the next op.
    bool is_called() const { return flow_.totals()[1] > ops_ * others_; }

    void begin() {
        begin_ = now_ns();
        next_ = begin_ + gap_;
        is_in_op_ = true;
        flow_.allow_each(++ops_);
    }

    void end() {
        is_in_op_ = false;
        times_.keep(begin_, now_ns() - begin_);
    }

    Phases phases_;
    Nanoseconds gap_;
    std::int64_t others_;
    Nanoseconds start_ = 0, next_ = 0;
    bool is_in_op_ = false;
    std::int64_t ops_ = 0;  // that it has begun
    Nanoseconds begin_ = 0; // of the last
    VictimTimes times_;
};

} // namespace a2aperf
