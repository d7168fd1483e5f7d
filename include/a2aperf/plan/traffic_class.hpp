// SPDX-License-Identifier: BSD-3-Clause
// A class of service, as it is asked for.
#pragma once

#include <string>
#include <string_view>

namespace a2aperf {

struct TrafficClass {
    enum class Kind { none, named, dscp, service_level };
    Kind kind = Kind::none;
    int value = 0; // place among the names, DSCP, or service level

    // One of libfabric's names ("low-latency"), "dscp46" or "sl1". Throws UsageError that says which there are.
    static TrafficClass parse(std::string_view text);

    std::string text() const; // as parse() takes it; empty = none
    bool operator==(const TrafficClass&) const = default;
};

} // namespace a2aperf
