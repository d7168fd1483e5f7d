// SPDX-License-Identifier: BSD-3-Clause
// What a results file holds, and how large it is in each of its dimensions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
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
    std::vector<std::string> port_names{};   // [C]
    std::optional<GroupDeclaration> group{}; // what the workload keeps beside the samples
    bool is_traced = false;                  // when each message arrived is kept
    bool has_exits = true;                   // when each rank left the barrier is kept

    std::uint64_t p() const { return static_cast<std::uint64_t>(points); }
    std::uint64_t a() const { return static_cast<std::uint64_t>(attempts); }
    std::uint64_t r() const { return static_cast<std::uint64_t>(ranks); }
    std::uint64_t n() const { return static_cast<std::uint64_t>(nodes); }
    std::uint64_t c() const { return port_names.size(); }
};

} // namespace a2aperf
