// SPDX-License-Identifier: BSD-3-Clause
// What one point says, derived from its samples and never stored without its n.
#pragma once

#include <cstddef>
#include <optional>

#include "a2aperf/stats/bandwidth.hpp"
#include "a2aperf/stats/interval.hpp"
#include "a2aperf/stats/percentile.hpp"
#include "a2aperf/stats/samples.hpp"

namespace a2aperf {

struct SummaryRules {
    PercentileRule percentile = PercentileRule::rank;
    CompleteAt complete_at = CompleteAt::receiver;
    bool has_common_start = false; // clock start: op span exists
    double node_link_gbps = 0;     // rails x link rate; 0 = unknown
};

// Times in ns; NaN where a figure does not exist. Columns of file-format.md.
struct Summary {
    std::size_t count = 0; // n, valid ops
    std::size_t invalid = 0;
    double min, mean, p50, p90, p99, max, stddev;
    double p50_low, p50_high, p99_low, p99_high;
    double autocorrelation;
    IntervalKind interval_kind = IntervalKind::none;
    double span_p50;
    double rank_time_p50;
    Bandwidths gbps; // at p50
    double gbps_sustained, gbps_sustained_compat;
    double efficiency;
    Rank last_rank = -1;
    double last_rank_share;
    double ratio, ratio_low, ratio_high; // set by the caller where there is a partner, NaN otherwise
    bool p99_is_max = false;
};

// Every floating figure is NaN when there is no valid op.
Summary summarise(const Samples& samples, const Layout& layout, Bytes message_size, const SummaryRules& rules);

} // namespace a2aperf
