// SPDX-License-Identifier: BSD-3-Clause
// Ops without a common start, --sync none: what they need, and what cannot be asked of them.
#pragma once

#include <optional>
#include <string>

#include "a2aperf/config/options.hpp"
#include "a2aperf/fabric/offer.hpp"
#include "a2aperf/plan/point.hpp"

namespace a2aperf {

// Throws UsageError where other options need a common start.
void check_pipelined(const Options& options);
// Receives are posted by the op itself, and there is no sentinel.
void settle_pipelined(Options& options);

// Why such a point cannot be measured; nothing where its ops have a common start.
std::optional<std::string> pipeline_trouble(const Point& point);
std::optional<std::string> pipeline_trouble(const Offer& offer, const Point& point);

} // namespace a2aperf
