// SPDX-License-Identifier: BSD-3-Clause
// The last words of a run: what was measured, the best figures, what looks wrong.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "a2aperf/plan/layout.hpp"
#include "a2aperf/plan/point.hpp"
#include "a2aperf/record/table.hpp"
#include "a2aperf/result/point_result.hpp"

namespace a2aperf {

// What became of points; before: those of the measured ones that earlier launches measured.
struct PointCounts {
    std::size_t measured = 0, before = 0, skipped = 0, failed = 0;
};

// "3 points measured, 2 before, 1 skipped, 1 failed (no op was valid)".
std::string what_was_measured(const PointCounts& counts, std::string_view why_failed = {});

// What closing words need of a result: the samples and counters are in the file, and what is kept grows with
// neither ops nor ranks. Its counters are those of one rank, for all together.
PointResult kept_for_closing(PointResult result);

// What disturbed the ops of these points, a remark each: invalid ops above 5 %, ranks descheduled during ops
// (involuntary switches). yields: ranks yield while they wait; the kernel counts a sched_yield() that lets another
// run as involuntary, too.
std::vector<std::string> disturbances(const Rows& measured, bool yields);

// Of all adapters that a node uses, one direction; 0 = unknown.
struct NodeLinkRate {
    double gbps = 0;
    bool is_stated = false; // by --link-rate
};

// Lines for people: that cores are shared (plan/oversubscription.hpp), number of points, best Gbit/s per rank and
// per node (with message size and n), where the file is, and remarks: p90/p50 > 3, mean above p90, figures above
// the link rate, a rank last more often than chance (binomial(1/R), ten ops for one, clock starts only),
// disturbances, sentinels whose intervals do not meet, settings that were faster (faster_settings.hpp), the ratio
// to the baseline. before: points of earlier launches, which this one found in the file.
std::vector<std::string> closing_words(const std::vector<Row>& rows, const Layout& layout, const std::string& file,
                                       const NodeLinkRate& link, const std::string& oversubscription = {},
                                       std::size_t before = 0, bool yields = false);

} // namespace a2aperf
