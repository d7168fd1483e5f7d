// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/measure/adapters.hpp"

#include <doctest/doctest.h>

using namespace a2aperf;

namespace {

NicFacts nic(const char* name, double gbps) {
    NicFacts facts;
    facts.name = name;
    facts.link_rate_gbps = gbps;
    return facts;
}

} // namespace

TEST_CASE("the rates of a node's adapters add up") {
    const NodeLink link =
        node_link({{nic("mlx5_0", 100), nic("mlx5_1", 200)}, {nic("mlx5_0", 200), nic("mlx5_1", 200)}});
    CHECK(link.rails == 2);
    CHECK(link.gbps == 300);
    CHECK(link.rail_gbps() == 150);
}

TEST_CASE("a rank has what the adapters of its endpoints carry") {
    NodeLink link;
    link.of_rank = 2;
    CHECK(link.rank_gbps() == 0);
    link.rails = 4;
    link.gbps = 400;
    CHECK(link.rank_gbps() == 200);
    link.of_rank = 1;
    CHECK(link.rank_gbps() == 100);
}

TEST_CASE("where nodes differ the one with the least counts") {
    const NodeLink link = node_link({{nic("a", 100), nic("b", 100)}, {nic("a", 100)}, {nic("a", 400)}});
    CHECK(link.rails == 1);
    CHECK(link.gbps == 100);
}

TEST_CASE("one rate that is unknown leaves none, and the number where it is the same on all nodes") {
    const NodeLink link = node_link({{nic("a", 100), nic("b", -1)}, {nic("a", 100), nic("b", 100)}});
    CHECK(link.gbps == 0);
    CHECK(link.rail_gbps() == 0);
    CHECK(link.rails == 2);
    CHECK(node_link({{nic("a", -1)}, {nic("a", -1), nic("b", -1)}}).rails == -1);
}

TEST_CASE("a rate that is stated is each adapter's, whatever the system tells") {
    const NodeLink link = node_link({{nic("a", 10), nic("b", -1)}, {nic("a", -1), nic("b", -1)}}, 0.2);
    CHECK(link.rails == 2);
    CHECK(link.gbps == doctest::Approx(0.4));
    CHECK(node_link({{}}, 0.2).gbps == 0);
}

TEST_CASE("without an adapter there is no rail and no rate") {
    CHECK(node_link({{}}).rails == -1);
    CHECK(node_link({{}}).gbps == 0);
    CHECK(node_link({{nic("a", 100)}, {}}).gbps == 0);
}

TEST_CASE("a port stands in the name where an adapter is there with several") {
    std::vector<NicFacts> nics{nic("mlx5_0", 100), nic("mlx5_1", 100), nic("mlx5_1", 100), nic("eth0", 10)};
    for (std::size_t i = 0; i < nics.size(); ++i) nics[i].port = i == 2 ? "2" : "1";
    CHECK(names_of(nics) == std::vector<std::string>{"mlx5_0", "mlx5_1/1", "mlx5_1/2", "eth0"});
    CHECK(names_of(std::span(nics).first(2)) == std::vector<std::string>{"mlx5_0", "mlx5_1"});
}

TEST_CASE("a rank's rate is a mean where it has part of adapters whose rates differ") {
    NodeLink link = node_link({{nic("a", 10), nic("b", 25)}});
    CHECK(link.is_mean());
    link.of_rank = 2;
    CHECK_FALSE(link.is_mean());
    CHECK_FALSE(node_link({{nic("a", 10), nic("b", 10)}}).is_mean());
    CHECK_FALSE(node_link({{nic("a", 10), nic("b", 25)}}, 10).is_mean());
    CHECK_FALSE(node_link({{nic("a", 10), nic("b", -1)}}).is_mean());
}

TEST_CASE("whether rates differ is asked of the node with the least, which is named where it is another") {
    const std::vector<std::string> hosts{"a0", "a1"};
    const NodeLink same = node_link({{nic("a", 10), nic("b", 10)}, {nic("a", 25), nic("b", 25)}});
    CHECK_FALSE(same.is_mean());
    CHECK(mean_words(same, hosts).empty());
    const NodeLink other = node_link({{nic("a", 25), nic("b", 25)}, {nic("a", 10), nic("b", 25)}});
    CHECK(other.node == 1);
    CHECK(other.rank_gbps() == 17.5);
    CHECK(mean_words(other, hosts) ==
          "; the rates of those of a1 differ, and of a rank's part of them the bound takes the mean");
    const NodeLink first = node_link({{nic("a", 10), nic("b", 25)}, {nic("a", 25), nic("b", 25)}});
    CHECK(mean_words(first, hosts) ==
          "; their rates differ, and of a rank's part of them the bound takes the mean");
    // What differs at the node with more is not what a rate was made of.
    CHECK_FALSE(node_link({{nic("a", 10), nic("b", 10)}, {nic("a", 10), nic("b", 25)}}).is_mean());
}

TEST_CASE("nodes of which no adapter is known are named, and all are those of the provider") {
    const std::vector<std::string> hosts{"a0", "a1", "a2"};
    CHECK(unknown_words({{nic("a", 10)}, {nic("a", 10)}, {nic("a", 10)}}, hosts, "tcp").empty());
    CHECK(unknown_words({{}, {}, {}}, hosts, "shm") == "for shm no adapter is known");
    CHECK(unknown_words({{nic("a", 10)}, {}, {nic("a", 10)}}, hosts, "tcp") == "of a1 no adapter is known");
    CHECK(unknown_words({{nic("a", 10)}, {}, {}}, hosts, "tcp") == "of a1 and 1 more node no adapter is known");
}
