// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/measure/host_facts.hpp"

#include <algorithm>

#include <doctest/doctest.h>

using namespace a2aperf;

TEST_CASE("facts come in one order, unknown ones empty") {
    const auto facts = node_facts(NicFacts{}, 7);
    const auto value = [&](const char* name) {
        const auto found =
            std::find_if(facts.begin(), facts.end(), [&](const auto& fact) { return fact.first == name; });
        REQUIRE(found != facts.end());
        return found->second;
    };
    CHECK_FALSE(value("kernel").empty());
    CHECK(value("cores_usable") == "7");
    CHECK(value("nic").empty());
    CHECK(value("nic_link_rate").empty());
    CHECK(value("nic_numa_node").empty());
}
