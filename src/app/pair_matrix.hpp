// SPDX-License-Identifier: BSD-3-Clause
// /pairs of the file: the matrix of all ordered pairs of ranks, and the pairs that were measured alone.
#pragma once

#include <vector>

#include "a2aperf/plan/plan.hpp"
#include "a2aperf/record/recorder.hpp"
#include "a2aperf/stats/pair_times.hpp"

namespace a2aperf {

// One pair that was measured with all other ranks idle. Times in ns.
struct IsolatedPair {
    Rank source;
    Rank destination;
    Bytes message_size;
    std::vector<Nanoseconds> times; // of every op
    double p50 = kAbsent;
};

class PairMatrix {
public:
    PairMatrix(const Plan& plan, int ranks); // of a plan of pairs

    // suspects: how many pairs may be measured alone; isolated_ops: with how many ops each.
    GroupDeclaration declaration(int suspects, int isolated_ops, PercentileRule rule) const;

    // What it has of the point's step.
    std::vector<PairTime> read(const Recorder& recorder, const Point& point) const;

    // Forgets the isolated pairs of an earlier launch.
    static void clear_isolated(Recorder& recorder);
    void write_isolated(Recorder& recorder, int place, const IsolatedPair& pair) const;

private:
    std::uint64_t index_of(Bytes message_size) const; // in sizes_
    std::vector<std::uint64_t> places(Bytes message_size, const std::vector<PairTime>& pairs) const;
    std::vector<GroupCells> cells(Bytes message_size, const std::vector<PairTime>& pairs) const;

    std::vector<std::int64_t> sizes_; // [M], in the plan's order
    int ranks_;
};

} // namespace a2aperf
