// SPDX-License-Identifier: BSD-3-Clause
// How what several got compares.
#pragma once

#include <span>
#include <vector>

namespace a2aperf {

// Jain's index, (sum x)^2 / (n sum x^2): 1 where all got the same, 1/n where one got all. kAbsent where nobody got
// anything. Jain, Chiu & Hawe, "A Quantitative Measure of Fairness and Discrimination", DEC-TR-301, 1984.
double jain_index(std::span<const double> amounts);

// Of the sum, each; kAbsent where it is 0.
std::vector<double> shares_of(std::span<const double> amounts);

} // namespace a2aperf
