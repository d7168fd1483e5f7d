// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/plan/traffic_class.hpp"

#include <doctest/doctest.h>

#include "a2aperf/base/error.hpp"

using namespace a2aperf;

TEST_CASE("a class is a name, a DSCP or a service level, and is written as it is read") {
    for (const char* text : {"best-effort", "low-latency", "dedicated-access", "bulk", "scavenger",
                             "network-control", "dscp0", "dscp63", "sl0", "sl15"})
        CHECK(TrafficClass::parse(text).text() == text);
    CHECK(TrafficClass::parse("low-latency").value == 1);
    CHECK(TrafficClass::parse("dscp46").kind == TrafficClass::Kind::dscp);
    CHECK(TrafficClass::parse("sl3").value == 3);
    CHECK(TrafficClass().text().empty());
}

TEST_CASE("what is no class is told, with what there is") {
    for (const char* text : {"", "fast", "Bulk", "dscp", "dscp+1", "dscp4x", "sl", "46", "dscp99999999999"})
        CHECK_THROWS_WITH_AS(TrafficClass::parse(text), doctest::Contains("expected best-effort, low-latency"),
                             UsageError);
    CHECK_THROWS_WITH_AS(TrafficClass::parse("dscp64"), doctest::Contains("dscp goes from 0 to 63"), UsageError);
    CHECK_THROWS_WITH_AS(TrafficClass::parse("sl16"), doctest::Contains("sl goes from 0 to 15"), UsageError);
}
