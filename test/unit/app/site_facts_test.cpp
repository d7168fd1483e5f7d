// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>

#include <fmt/format.h>

#include "app/site_facts.hpp"
#include "support/usage.hpp"

using namespace a2aperf;
using a2aperf::test::is_one_clear_line;

namespace {

const std::vector<std::string> kNodes{"node1", "node2"};

std::string refused(const std::string& second) {
    return test::refusal([&] { (void)facts_of_nodes(kNodes, {"cable=A", second}); });
}

} // namespace

TEST_CASE("Each node has the facts of its own file") {
    const FactsOfNodes facts =
        facts_of_nodes(kNodes, {"# by ethtool -m\n\ncable = Mellanox MCP1600 MT1749 \r\nslot=3\n", "cable=MT1750"});
    CHECK(facts == FactsOfNodes{{"site_cable", {"Mellanox MCP1600 MT1749", "MT1750"}}, {"site_slot", {"3", ""}}});
}

TEST_CASE("Nothing is known of a node without a file, or with an empty one") {
    CHECK(facts_of_nodes(kNodes, {"", "a=1"}) == FactsOfNodes{{"site_a", {"", "1"}}});
    CHECK(facts_of_nodes(kNodes, {"", "# none\n"}).empty());
}

TEST_CASE("A line that is no fact is named with its node") {
    CHECK(refused("a=1\ncable") == "--node-facts: node2, line 2: 'cable' is not NAME=VALUE");
    CHECK(refused("a=1\n\n#\na=") == "--node-facts: node2, line 4: 'a' is given twice");
    CHECK(is_one_clear_line(refused("a/b=1")));
    std::string many;
    for (int i = 0; i < 70; ++i) many += fmt::format("n{}=1\n", i);
    CHECK(refused(many) == "--node-facts: node2: more than 64 names");
}
