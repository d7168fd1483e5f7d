// SPDX-License-Identifier: BSD-3-Clause
// Two choices made once per launch, with their reasons: how to poll and how ops start.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "a2aperf/fabric/locality.hpp"
#include "a2aperf/job/job.hpp"
#include "a2aperf/measure/deadline.hpp"
#include "a2aperf/measure/op_loop.hpp"

namespace a2aperf {

std::string_view to_string(Start start);

struct PollingChoice {
    PollingWay way;
    std::string reason;
};

struct StartChoice {
    Start start;
    std::string reason;
};

// How many cores the ranks of each node may run on together, [N]; 0 = unknown. Collective.
std::vector<int> cores_of_nodes(const Job& job, const Locality& here);
bool is_oversubscribed(const Layout& layout, const std::vector<int>& cores, int threads = 1); // of each rank

// What the user wants, or: spin where every rank has a core, yield where not.
PollingChoice choose_polling(std::optional<PollingWay> wanted, bool is_oversubscribed);

// What the user wants, or: clock where it holds (a core per rank, at most 5 % of trial starts late, clock error at
// most 5 % of the smallest op time), barrier where not. Runs trial ops on the engine. Collective.
StartChoice choose_start(std::optional<Start> wanted, bool is_oversubscribed, double clock_error_ns, const Job& job,
                         OpLoop& loop, Engine& engine);

// The same without a trial, for ops that wait for few ranks: each transfer is timed from its sender's begin to its
// receiver's end, both on the common clock, so that a late start does no harm, and clocks err by less than ranks
// leave a barrier apart.
StartChoice choose_start_without_trial(std::optional<Start> wanted, bool is_oversubscribed);

// A rank that began later than this made its op invalid: max(1 us, 1 % of the warm-up's median op time).
Nanoseconds late_limit(double warmup_p50_ns);

} // namespace a2aperf
