// SPDX-License-Identifier: BSD-3-Clause
// How much each rank sends to each other one, in shares: what a message size makes bytes of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "a2aperf/base/units.hpp"

namespace a2aperf {

// Every rank has all of it: 8 MiB. As many matrices in a launch as a column of its file has room for.
inline constexpr int kMostTrafficRanks = 1024;
inline constexpr int kMostTrafficMatrices = 16;

class TrafficMatrix {
public:
    explicit TrafficMatrix(int ranks)
        : ranks_(ranks), weights_(static_cast<std::size_t>(ranks) * static_cast<std::size_t>(ranks)) {}

    // Whole shares of the numbers [from][to], none of them below 0: the numbers themselves where they are whole and
    // not too large, else so that the largest is 2^40. What is above 0 stays so; the diagonal is left out.
    static TrafficMatrix of_numbers(int ranks, const std::vector<double>& numbers);

    int ranks() const { return ranks_; }
    std::uint64_t weight(Rank from, Rank to) const { return weights_[at(from, to)]; }
    void set(Rank from, Rank to, std::uint64_t weight) { weights_[at(from, to)] = weight; }
    std::uint64_t total() const;  // below 2^63
    std::uint64_t digest() const; // of all weights, 1 to 2^63 - 1: of the same matrix the same

private:
    std::size_t at(Rank from, Rank to) const {
        return static_cast<std::size_t>(from) * static_cast<std::size_t>(ranks_) + static_cast<std::size_t>(to);
    }

    int ranks_;
    std::vector<std::uint64_t> weights_; // [from][to]
};

// The words of a file: Matrix Market (coordinate or array; integer, real or pattern; general or symmetric), and
// lines of numbers with commas. A row is a source, a column a destination. Throw UsageError that says where and
// what is wrong: what is no such file, a matrix that is not square, a number below 0 or that is none, an entry
// given twice.
TrafficMatrix parse_mtx(std::string_view text);
TrafficMatrix parse_csv_matrix(std::string_view text);

} // namespace a2aperf
