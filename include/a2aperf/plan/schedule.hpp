// SPDX-License-Identifier: BSD-3-Clause
// In which order a rank visits its peers. A schedule is data: R-1 steps for every rank.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "a2aperf/plan/layout.hpp"
#include "a2aperf/plan/message_steps.hpp"

namespace a2aperf {

struct Step {
    Rank send_to;
    Rank receive_from;
    bool operator==(const Step&) const = default;
};

struct Schedule {
    std::string_view name;
    std::string_view formula; // for people: help, docs, file
    // Why it cannot serve this layout; nothing when it can.
    std::optional<std::string> (*refusal)(const Layout& layout);
    // The R-1 steps of one rank: every peer once as send_to and once as receive_from, self never. The same
    // seed gives matching steps on all ranks.
    std::vector<Step> (*steps)(Rank rank, const Layout& layout, std::uint64_t seed);
    // Of traffic that is not uniform; null: the same steps, without the peers that get nothing.
    MessageSteps (*of_matrix)(const TrafficMatrix& matrix) = nullptr;
    bool forwards = false; // by way of one rank of each node (plan/forwarding.hpp)
};

// All schedules, in the order of the help.
std::span<const Schedule> schedules();

// Throws UsageError that names the ones there are.
const Schedule& find_schedule(std::string_view name);

} // namespace a2aperf
