// SPDX-License-Identifier: BSD-3-Clause
// What a results file holds, and how large it is in each of its dimensions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "a2aperf/record/columns.hpp"
#include "a2aperf/record/group_declaration.hpp"

namespace a2aperf {

struct Extents {
    Schema schema;
    int points = 0;                          // P
    int attempts = 0;                        // A
    int ranks = 0;                           // R
    int nodes = 0;                           // N
    int ticks = 0;                           // T
    std::vector<std::string> port_names{};   // [C]
    std::vector<SampleColumn> samples{};     // those of the workload that are kept
    std::optional<GroupDeclaration> group{}; // what the workload keeps beside the samples
    int buckets = 0;                         // of a histogram, at most

    std::uint64_t p() const { return static_cast<std::uint64_t>(points); }
    std::uint64_t a() const { return static_cast<std::uint64_t>(attempts); }
    std::uint64_t r() const { return static_cast<std::uint64_t>(ranks); }
    std::uint64_t n() const { return static_cast<std::uint64_t>(nodes); }
    std::uint64_t t() const { return static_cast<std::uint64_t>(ticks); }
    std::uint64_t b() const { return static_cast<std::uint64_t>(buckets); }
    std::uint64_t c() const { return port_names.size(); }
    bool has_samples(std::string_view name) const {
        return std::any_of(samples.begin(), samples.end(), [&](const SampleColumn& s) { return s.name == name; });
    }
};

} // namespace a2aperf
