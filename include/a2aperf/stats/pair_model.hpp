// SPDX-License-Identifier: BSD-3-Clause
// What of a pair's time is its sender's, what its receiver's, and what only its own.
#pragma once

#include <limits>
#include <span>
#include <vector>

#include "a2aperf/stats/pair_times.hpp"

namespace a2aperf {

// log(time) = overall + sender[source] + receiver[destination] + residual, fitted by median polish (Tukey,
// Exploratory Data Analysis, 1977): medians are taken out of rows and columns in turn until none is left, so that
// fewer than half of a rank's pairs do not move its effect. Cells may be missing. With fewer than 3 cells to a rank
// its effects cannot be told from its pairs: they are 0 then, and all is residual.
struct PairModel {
    static constexpr double kUntold = std::numeric_limits<double>::infinity();
    double overall = kAbsent;
    std::vector<double> sender, receiver; // [R] logarithms; NaN for a rank without a cell
    std::vector<double> residual;         // parallel to the pairs; NaN where the time is not above 0
    // Robust standard deviations, 1.4826 x median of the absolute values, those not counted that the fit made 0; of
    // an effect at least the standard error that the residuals give it. Infinite where nothing is left to tell.
    double residual_sigma = kUntold, sender_sigma = kUntold, receiver_sigma = kUntold;
    // Whether one of them can stand out: of fewer than four times none is beyond the scatter of the others.
    bool is_judged = false;

    // ns, what its sender and receiver do with others.
    double expected(const PairTime& pair) const;
    // ns, what an ordinary sender reaches with the receiver, and the other way.
    double expected_of_receiver(Rank destination) const;
    double expected_of_sender(Rank source) const;
};

PairModel fit_pairs(std::span<const PairTime> pairs, int ranks);

enum class Weakness { sender, receiver, pair };

struct Suspect {
    Weakness weakness;
    PairTime pair;   // itself, or the median one of a slow rank: the one to look at again
    double expected; // ns, without the weakness
    double share;    // of the rate that is expected, which it reaches
};

// What is slower than the others by more than 10 % and by more than chance allows: a residual, or a rank's effect,
// of more than 4 sigmas and of more than the largest that n values of a normal distribution have,
// sqrt(2 ln n) sigmas (Donoho & Johnstone, Biometrika 81, 1994). Slow ranks first, each kind slowest first. A pair
// of a slow rank is judged against that rank's other pairs.
std::vector<Suspect> find_suspects(std::span<const PairTime> pairs, const PairModel& model);

// All pairs of one message size, judged: those within a node among themselves and those between nodes among
// themselves, so that shared memory does not make a network look slow.
struct PairVerdict {
    std::vector<PairTime> pairs;   // within nodes first
    std::vector<double> expected;  // ns, parallel to pairs: what its sender and receiver do with others
    std::vector<Suspect> suspects; // slow ranks first, each kind slowest first
    bool is_judged = false;        // some of them are enough to tell one from the others
};

PairVerdict judge_pairs(std::span<const PairTime> pairs, const Layout& layout);

} // namespace a2aperf
