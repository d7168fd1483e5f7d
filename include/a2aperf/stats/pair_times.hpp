// SPDX-License-Identifier: BSD-3-Clause
// How long messages took from one rank to another, out of the samples of a step in which every rank has one peer.
#pragma once

#include <vector>

#include "a2aperf/stats/bandwidth.hpp"
#include "a2aperf/stats/percentile.hpp"
#include "a2aperf/stats/samples.hpp"
#include "a2aperf/stats/summary.hpp"

namespace a2aperf {

// One ordered pair of ranks at one message size. Times in ns.
struct PairTime {
    Rank source;
    Rank destination;
    int ops = 0; // behind the figures
    // NaN without an op, and where the time is not above the clock error: then nothing is known of it.
    double p50 = kAbsent, min = kAbsent;
};

// From the begin of the rank that starts the transfer (the source; the destination where it fetches the message) to
// recv_done of the destination in one attempt, on the common clock.
Nanoseconds transfer_time(const Samples& samples, int attempt, Rank source, Rank destination);

// The same of every attempt, valid or not.
std::vector<Nanoseconds> transfer_times(const Samples& samples, Rank source, Rank destination);

// A time that the clocks can carry, or NaN.
double told_by_clock(double time_ns, double clock_error_ns);

// Of every rank r to (r + distance) mod R, in the order of r, over the valid ops.
std::vector<PairTime> pair_times(const Samples& samples, int distance, PercentileRule rule, double clock_error_ns);

// Gbit/s (1e9 bit); NaN where the time is not above 0.
double pair_gbps(Bytes message_size, double time_ns);

// Of ops in which every rank sends one message: rates of a rank and of all of them. What crosses between nodes
// depends on the step, so those rates are absent.
Summary summarise_step(const Samples& samples, const Layout& layout, Bytes message_size, const SummaryRules& rules);

} // namespace a2aperf
