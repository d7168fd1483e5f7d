// SPDX-License-Identifier: BSD-3-Clause
// What one point says, derived from its samples and never stored without its n.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "a2aperf/stats/bandwidth.hpp"
#include "a2aperf/stats/interval.hpp"
#include "a2aperf/stats/percentile.hpp"
#include "a2aperf/stats/samples.hpp"

namespace a2aperf {

struct SummaryRules {
    PercentileRule percentile = PercentileRule::rank;
    CompleteAt complete_at = CompleteAt::receiver;
    bool has_common_start = false; // clock start: op span exists
    bool follows_on = false;       // ops without a common start: rates are of the whole, and nobody is last
    double node_link_gbps = 0;     // of all adapters that a node uses; 0 = unknown
    double clock_error_ns = 0;     // bound, of the common clock
    double rank_link_gbps = 0;     // of the adapter that a rank uses; 0 = unknown
    TrafficLoads loads{};          // of ops in which every rank takes part
    // Of the ops in turn, where each has others: the n-th attempt has the n-th, and after the last they begin
    // again.
    std::vector<TrafficLoads> loads_in_turn{};
    bool is_uniform = true; // in which every rank sends the same to all others

    // Whether an op's time tells a rate, and what of its bound was reached: what goes one way takes as long as its
    // ranks left a barrier apart.
    bool tells_reached() const { return has_common_start || follows_on || !loads.goes_one_way; }
};

// Times in ns; NaN where a figure does not exist. Columns of file-format.md.
struct Summary {
    std::size_t count = 0; // n, valid ops
    std::size_t invalid = 0;
    double min = kAbsent, mean = kAbsent, p50 = kAbsent, p90 = kAbsent, p99 = kAbsent, max = kAbsent;
    double p999 = kAbsent; // of round trips
    double stddev = kAbsent;
    double p50_low = kAbsent, p50_high = kAbsent, p99_low = kAbsent, p99_high = kAbsent;
    double autocorrelation = kAbsent;
    IntervalKind interval_kind = IntervalKind::none; // of p50
    double span_p50 = kAbsent;
    double rank_time_p50 = kAbsent;
    Bandwidths gbps; // at p50
    double gbps_sustained = kAbsent, gbps_sustained_compat = kAbsent;
    double efficiency = kAbsent;
    // Of equals the lowest. Absent (-1, NaN) where no common clock carries who came last: with a barrier start
    // whose exits aren't kept, or with a clock error above 5 % of p50.
    Rank last_rank = -1;
    double last_rank_share = kAbsent;
    double ratio = kAbsent, ratio_low = kAbsent, ratio_high = kAbsent; // set by the caller where there is a partner
    bool p99_is_max = false;
    double whole_time = kAbsent; // of ops that follow one another: in which any of them was under way
    // What the traffic alone asks for. bound: the shortest time that the links allow, ns; NaN where their rates are
    // unknown or nothing passes them; its share also where ops don't tell what was reached. busiest: of the bound,
    // and where there is none of the ranks.
    double bound = kAbsent, bound_share = kAbsent;
    Busiest busiest = Busiest::none;
    int busiest_index = -1;
    double imbalance = kAbsent, node_imbalance = kAbsent;
    std::int64_t largest_message = -1;
};

// How a workload's samples become a summary. Every floating figure is NaN when there is no valid op.
using Summarise = std::function<Summary(const Samples& samples, const Layout& layout, Bytes message_size,
                                        const SummaryRules& rules)>;

// Of times in time order: what follows from them alone.
Summary summarise_series(std::span<const Nanoseconds> times, PercentileRule rule);

// What ops of any kind have, no rate among it.
Summary summarise_times(const Samples& samples, const SummaryRules& rules);

// The time in which any valid op was under way on any rank, by the common clock, ns: what lies between two blocks
// of ops counts for none.
double whole_time(const Samples& samples, CompleteAt rule);

// Of ops in which every rank sends to others, by rules.loads.
Summary summarise(const Samples& samples, const Layout& layout, Bytes message_size, const SummaryRules& rules);

} // namespace a2aperf
