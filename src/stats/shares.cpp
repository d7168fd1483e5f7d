// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/stats/shares.hpp"

#include <algorithm>
#include <numeric>

#include "a2aperf/stats/summary.hpp"

namespace a2aperf {

// By the largest of them, so that no square is too large.
double jain_index(std::span<const double> amounts) {
    const double most = amounts.empty() ? 0 : *std::ranges::max_element(amounts);
    if (most <= 0) return kAbsent;
    double sum = 0, squares = 0;
    for (const double amount : amounts) {
        sum += amount / most;
        squares += (amount / most) * (amount / most);
    }
    return sum * sum / (static_cast<double>(amounts.size()) * squares);
}

std::vector<double> shares_of(std::span<const double> amounts) {
    const double sum = std::accumulate(amounts.begin(), amounts.end(), 0.0);
    std::vector<double> shares;
    for (const double amount : amounts) shares.push_back(sum > 0 ? amount / sum : kAbsent);
    return shares;
}

} // namespace a2aperf
