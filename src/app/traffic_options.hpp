// SPDX-License-Identifier: BSD-3-Clause
// What --traffic asks for.
#pragma once

#include <any>
#include <span>
#include <string>
#include <vector>

#include "a2aperf/config/options.hpp"
#include "a2aperf/plan/traffic_pattern.hpp"

namespace a2aperf {

struct TrafficOptions {
    std::vector<TrafficPattern> patterns; // none: uniform
};

inline TrafficOptions& traffic_options(Options& options) {
    return std::any_cast<TrafficOptions&>(options.own);
}
inline const TrafficOptions& traffic_options(const Options& options) {
    return std::any_cast<const TrafficOptions&>(options.own);
}

// Lists: items separated by commas, in one text or several; doubles are dropped. Files are read. Throws UsageError.
std::vector<TrafficPattern> read_traffic(std::span<const std::string> values);

} // namespace a2aperf
