// SPDX-License-Identifier: BSD-3-Clause
// From what the user asked for to a launch that is ready to measure: one decision after another, each of them
// the same on all ranks.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "a2aperf/fabric/provider_choice.hpp"
#include "a2aperf/job/job.hpp"
#include "a2aperf/measure/channel.hpp"
#include "a2aperf/measure/counters.hpp"
#include "a2aperf/measure/start_policy.hpp"
#include "a2aperf/plan/plan.hpp"
#include "a2aperf/result/provenance.hpp"

namespace a2aperf {

// Why the provider forbids it, of what any workload may ask for; what no provider allows is point_trouble().
std::optional<std::string> fabric_skip_reason(const Point& point, const ProviderChoice& choice,
                                              const Layout& layout);

// Why its adapters have not got so many endpoints of each rank of a node; one is not asked about. are_dealt: each
// endpoint of a rank may have another adapter.
std::optional<std::string> endpoints_trouble(const ProviderChoice& choice, int endpoints, bool are_dealt,
                                             const Layout& layout);

// What a rank found of a point when it made its plan.
struct PointSkip {
    std::string label, why; // why: empty = it can be measured
};

// Ranks plan by what their own nodes offer: where one skips what another measures they would wait for each other in
// vain. found: of every point in the order in which it was asked. Throws UsageError, the same on all ranks, which
// names the first such point, two ranks and their adapters. Collective.
void require_same_skips(const Job& job, const std::vector<PointSkip>& found, const std::string& adapter);

// Entries of a completion queue beyond which no stream of the plan has operations under way.
std::size_t queue_entries(const Plan& plan, int ranks);
// Which its sends put there: all, unless a point leaves some out.
Completions completions(const Plan& plan);
// Words of a rank that its peers write: those of each rank in modes that tell by flags, and of the largest stream
// that moves by writes.
std::size_t flag_words(const Plan& plan, int ranks);
ChannelCounts channel_counts(const Plan& plan);
int most_channels(const Plan& plan); // that a rank opens
int most_threads(const Plan& plan);  // with which a rank drives them

// Names of the port counters of the adapters in use on any node (given: on this one), in one order for all.
// Collective.
std::vector<std::string> agree_on_port_names(const Job& job, const std::vector<NicFacts>& adapters);

// The facts of all nodes and ranks. Collective; complete on rank 0.
void collect_facts(const Job& job, const ProviderChoice& choice, Provenance& provenance);

} // namespace a2aperf
