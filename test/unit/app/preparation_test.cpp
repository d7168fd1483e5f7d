// SPDX-License-Identifier: BSD-3-Clause
#include "app/preparation.hpp"

#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace a2aperf;

TEST_CASE(
    "of ranks that are warned of their adapters the first one's words are told, and how many more there are") {
    const auto who = [](Rank rank) { return "rank " + std::to_string(rank); };
    const auto words = [&](const std::vector<std::string>& of_ranks) { return far_words(of_ranks, who); };
    const std::string far = "far from mlx5_0: distance 21 (10 is local)";
    const std::string unbound = "not bound to one NUMA node, while mlx5_0 is at node 1";
    CHECK(words({"", "", ""}).empty());
    CHECK(words({"", far, ""}) == "rank 1: " + far);
    CHECK(words({unbound, "", far}) == "rank 0: " + unbound + "; 1 more rank has such a warning");
    CHECK(words({far, far, unbound}) == "rank 0: " + far + "; 2 more ranks have such a warning");
}
