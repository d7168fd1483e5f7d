// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/fabric/variables.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace a2aperf;

using Names = std::vector<std::string>;

TEST_CASE("a variable is ignored where libfabric knows others of its provider and not this one") {
    const Names told = {"FI_OFI_RXM_TX_SIZE", "FI_TCP_NODELAY", "FI_PROVIDER"};
    CHECK(ignored_variables({"FI_TCP_NODELAY", "FI_PROVIDER"}, told).empty());
    CHECK(ignored_variables({"FI_TCP_NODELYA", "FI_OFI_RXM_TX", "FI_OFI_RXM_TX_SIZE"}, told) ==
          Names{"FI_TCP_NODELYA", "FI_OFI_RXM_TX"});
}

TEST_CASE("of a provider that is not loaded, and of a name of one word, nothing is said") {
    const Names told = {"FI_OFI_RXM_TX_SIZE", "FI_TCP_NODELAY"};
    CHECK(ignored_variables({"FI_PSM3_UUID", "FI_OFI_RXD_RETRY", "FI_UNIVERSE", "FI_OFI", "FI_"}, told).empty());
    CHECK(ignored_variables({"PSM2_RCVTHREAD", "OMPI_FI_TCP_X", ""}, told).empty());
    CHECK(ignored_variables({"FI_TCP_X"}, {}).empty());
    // Which read more than they tell.
    CHECK(ignored_variables({"FI_OPX_X", "FI_EFA_X", "FI_CXI_X"}, {"FI_OPX_Y", "FI_EFA_Y", "FI_CXI_Y"}).empty());
}

TEST_CASE("libfabric tells the variables of providers that are loaded") {
    const std::vector<Variable> all = library_variables();
    const Names told = variables_told();
    REQUIRE(all.size() == told.size());
    CHECK(std::is_sorted(told.begin(), told.end()));
    CHECK(std::find(told.begin(), told.end(), "FI_PROVIDER") != told.end());
    CHECK(ignored_variables(told, told).empty());
}
