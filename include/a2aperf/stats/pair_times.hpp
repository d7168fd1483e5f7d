// SPDX-License-Identifier: BSD-3-Clause
// How long messages took from one rank to another, out of the samples of a step in which every rank has one peer.
#pragma once

#include <vector>

#include "a2aperf/stats/bandwidth.hpp"
#include "a2aperf/stats/percentile.hpp"
#include "a2aperf/stats/samples.hpp"

namespace a2aperf {

// One ordered pair of ranks at one message size. Times in ns.
struct PairTime {
    Rank source;
    Rank destination;
    int ops = 0; // behind the figures; without one they are NaN
    double p50 = kAbsent, min = kAbsent;
};

// One pair that was measured with all other ranks idle. Times in ns.
struct IsolatedPair {
    Rank source;
    Rank destination;
    Bytes message_size;
    std::vector<Nanoseconds> times; // of every op
    double p50 = kAbsent;
};

// recv_done of the destination - begin of the source in one attempt.
Nanoseconds transfer_time(const Samples& samples, int attempt, Rank source, Rank destination);

// Of every rank r to (r + distance) mod R, in the order of r, over the valid ops.
std::vector<PairTime> pair_times(const Samples& samples, int distance, PercentileRule rule);

// Gbit/s (1e9 bit); NaN where the time is not above 0.
double pair_gbps(Bytes message_size, double time_ns);

} // namespace a2aperf
