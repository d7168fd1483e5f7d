// SPDX-License-Identifier: BSD-3-Clause
// How the ranks agree on rank 0's clock, and how well they did.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "a2aperf/base/clock.hpp"
#include "a2aperf/job/job.hpp"
#include "a2aperf/measure/clock_fit.hpp"
#include "a2aperf/measure/common_clock.hpp"

namespace a2aperf {

// A rank's clock and the name of its domain: ranks whose domains are equal read the same clock.
struct LocalClock {
    std::string domain;
    std::function<Nanoseconds()> now;
};

// CLOCK_MONOTONIC, which processes share within one boot of one kernel and one time namespace.
LocalClock monotonic_clock();

struct ClockAgreement {
    CommonClock mine;                  // this rank's line to rank 0's clock
    double error_ns = 0;               // bound, see below; the same on every rank, 0 with one clock domain
    std::vector<int> domain_of_rank;   // [R], ranks with the same number share a clock
    std::vector<double> offset, drift; // [R] on rank 0 (empty elsewhere) at the moment of agreement, ns and ns/ns
    std::vector<OffsetPoint> points;   // what resynchronise() goes on from: this leader against its parent
    int next_check = 0;                // whom it checks first
};

// Collective. The lowest rank of each domain leads it. Leaders form a binomial tree; each takes ping-pongs with its
// parent several times over some tenths of a second and fits a line; lines are composed up to rank 0's (the tree
// and the composition: Hunold & Carpen-Amarie, Hierarchical Clock Synchronization in MPI, CLUSTER 2018). With
// one domain no message is sent but the domains' names.
//
// error_ns: after the fit every leader takes fresh ping-pongs with rank 0 itself. What its line is off by plus
// half the shortest round trip is a bound whatever the two ways of a message take; the largest over leaders counts.
// Throws RunError when a rank does not answer within the job's timeout.
ClockAgreement agree_on_clock(const Job& job, const LocalClock& clock = monotonic_clock());

// Collective, a few ping-pongs per leader; call it every few seconds between points. Measures once more and fits
// again: a longer base makes a better drift. The error of a line against a clock of steady drift is largest at one
// end of the time that it is used for, so both ends are checked (at most 16 leaders, in turn), and error_ns is the
// largest bound since the agreement.
void resynchronise(const Job& job, ClockAgreement& agreement, const LocalClock& clock = monotonic_clock());

} // namespace a2aperf
