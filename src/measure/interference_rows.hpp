// SPDX-License-Identifier: BSD-3-Clause
// What a rank keeps of a point of interference.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "a2aperf/plan/interference_plan.hpp"
#include "a2aperf/stats/samples.hpp"

namespace a2aperf {

// Rows of samples: of a victim one each of its times, of a load rank one each phase. kNoMoment: the other side's.
struct InterferenceRows {
    std::vector<Nanoseconds> begin;
    std::vector<std::int64_t> phase, kind, victim_time, received, time;

    void add(Nanoseconds at, int of_phase, SampleKind of_kind, Nanoseconds of_victim, std::int64_t messages,
             Nanoseconds in) {
        begin.push_back(at);
        phase.push_back(of_phase);
        kind.push_back(static_cast<std::int64_t>(of_kind));
        victim_time.push_back(of_victim);
        received.push_back(messages);
        time.push_back(in);
    }
    // By the phase in which it began.
    void add_time(Nanoseconds at, Nanoseconds start, const Phases& phases, Nanoseconds of_victim) {
        add(at, phases.at(at - start), phases.kind_at(at - start), of_victim, kNoMoment, kNoMoment);
    }
};

// Of a victim, as many as there is room for; those beyond are counted.
class VictimTimes {
public:
    void reserve(std::size_t most) {
        most_ = most;
        begins_.reserve(most);
        times_.reserve(most);
    }
    void keep(Nanoseconds begin, Nanoseconds time) {
        if (times_.size() >= most_) {
            ++lost_;
            return;
        }
        begins_.push_back(begin);
        times_.push_back(time);
    }
    std::int64_t lost() const { return lost_; }
    InterferenceRows rows(Nanoseconds start, const Phases& phases) const {
        InterferenceRows rows;
        for (std::size_t i = 0; i < begins_.size(); ++i) rows.add_time(begins_[i], start, phases, times_[i]);
        return rows;
    }

private:
    std::size_t most_ = 0;
    std::vector<Nanoseconds> begins_, times_;
    std::int64_t lost_ = 0;
};

} // namespace a2aperf
