// SPDX-License-Identifier: BSD-3-Clause
// Made-up plans, provenance and results whose every value follows from its indices, so that whoever reads them back
// (test/unit/record/expected.py too) can tell what they must be.
#pragma once

#include <string>

#include "a2aperf/plan/plan.hpp"
#include "a2aperf/result/point_result.hpp"
#include "a2aperf/result/provenance.hpp"

namespace a2aperf::test {

// A sentinel at both ends; in between a measured point with its baseline in turn, every 7th measured one skipped.
// Sizes are first_size, 2 first_size, …
Plan synthetic_plan(int points, Bytes first_size = 1000);

Provenance synthetic_provenance(const Layout& layout, const std::string& node_prefix = "node");

// Attempts made for a point: 1 … most, different from point to point.
int synthetic_attempts(int point, int most);

// begin = a + r + p, send_done = begin + 1000 + (7 a + 3 r) mod 101, recv_done = begin + 1000 + (5 a + 11 r) mod
// 103 (ns), start = 10^6 a, every 10th attempt but the first invalid; the summary is the samples'.
PointResult synthetic_result(int point, const Plan& plan, const Layout& layout, int attempts,
                             const Provenance& provenance, bool has_valid_ops = true);

} // namespace a2aperf::test
