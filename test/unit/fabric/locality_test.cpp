// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/fabric/locality.hpp"

#include <sched.h>

#include <filesystem>
#include <fstream>
#include <string>

#include <doctest/doctest.h>

#include "support/temporary_folder.hpp"

using namespace a2aperf;

TEST_CASE("a process may run on the cores that the kernel lets it") {
    cpu_set_t allowed;
    REQUIRE(sched_getaffinity(0, sizeof allowed, &allowed) == 0);
    const Locality here = this_locality();
    CHECK_FALSE(here.cores.empty());
    CHECK(static_cast<int>(here.cores.size()) <= CPU_COUNT(&allowed));
    CHECK_FALSE(here.cpu_list.empty());
}

TEST_CASE("a narrower binding has fewer cores") {
    cpu_set_t before;
    REQUIRE(sched_getaffinity(0, sizeof before, &before) == 0);
    int first = 0;
    while (!CPU_ISSET(first, &before)) ++first;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    REQUIRE(sched_setaffinity(0, sizeof one, &one) == 0);
    const Locality here = this_locality();
    sched_setaffinity(0, sizeof before, &before);
    CHECK(here.cores.size() == 1);
    CHECK(here.cpu_list == std::to_string(first));
}

TEST_CASE("distances are those of the nodes that are online, in their order") {
    const test::TemporaryFolder nodes;
    std::ofstream(nodes.path() / "online") << "0,2-3,8\n";
    std::filesystem::create_directory(nodes.path() / "node0");
    std::ofstream(nodes.path() / "node0/distance") << "10 20 30 40\n";
    const auto distance = [&](std::vector<int> from) { return numa_distance_in(nodes.path(), from, 0); };
    CHECK(distance({0}) == 10);
    CHECK(distance({2}) == 20);
    CHECK(distance({3}) == 30);
    CHECK(distance({8}) == 40);
    CHECK(distance({8, 3}) == 30);
    CHECK_FALSE(distance({1}));
    CHECK_FALSE(numa_distance_in(nodes.path(), {0}, 2));
}

TEST_CASE("an unknown node has no distance") {
    CHECK_FALSE(numa_distance({0}, -1));
    CHECK_FALSE(numa_distance({0}, 4095));
    CHECK_FALSE(numa_distance({}, 0));
}
