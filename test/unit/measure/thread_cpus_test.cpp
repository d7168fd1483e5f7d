// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/measure/thread_cpus.hpp"

#include <numeric>
#include <vector>

#include <doctest/doctest.h>

using namespace a2aperf;

namespace {

using Cores = std::vector<int>;

// Core c has the CPUs 2c and 2c + 1, of which every rank may use the first.
Cores cpus_of(const std::vector<Cores>& of_ranks, int local_index, int threads) {
    NodeCores node{of_ranks, local_index, {}};
    for (const int core : of_ranks[static_cast<std::size_t>(local_index)]) node.cpus.push_back(2 * core);
    return cpus_for_threads(&node, threads);
}

Cores cores_to(int count) {
    Cores cores(static_cast<std::size_t>(count));
    std::iota(cores.begin(), cores.end(), 0);
    return cores;
}

} // namespace

TEST_CASE("ranks that may run on all of a node have each its share of it, where there are enough cores for all") {
    const std::vector<Cores> all(3, cores_to(7));
    CHECK(cpus_of(all, 0, 2) == Cores{0, 2});
    CHECK(cpus_of(all, 2, 2) == Cores{8, 10});
    CHECK(cpus_of(all, 0, 3).empty()); // nine of seven
}

TEST_CASE("ranks with cores of their own take these, whatever others have") {
    const std::vector<Cores> own{{0, 1}, {2, 3, 4}, {5}};
    CHECK(cpus_of(own, 0, 2) == Cores{0, 2});
    CHECK(cpus_of(own, 1, 2) == Cores{4, 6});
    CHECK(cpus_of(own, 2, 2).empty());
    CHECK(cpus_of(own, 1, 3) == Cores{4, 6, 8});
}

TEST_CASE("ranks that are bound to the same part of a node share that") {
    const std::vector<Cores> sockets{{0, 1, 2, 3}, {4, 5, 6, 7}, {0, 1, 2, 3}, {4, 5, 6, 7}};
    CHECK(cpus_of(sockets, 0, 2) == Cores{0, 2});
    CHECK(cpus_of(sockets, 2, 2) == Cores{4, 6});
    CHECK(cpus_of(sockets, 1, 2) == Cores{8, 10});
    CHECK(cpus_of(sockets, 3, 2) == Cores{12, 14});
    for (int rank = 0; rank < 4; ++rank) CHECK(cpus_of(sockets, rank, 3).empty());
    const std::vector<Cores> tasks(3, Cores{0, 1}); // under one taskset
    for (int rank = 0; rank < 3; ++rank) CHECK(cpus_of(tasks, rank, 2).empty());
}

TEST_CASE("ranks with unlike cores take none twice") {
    const std::vector<Cores> nested{{0, 1, 2, 3}, {0, 1}};
    CHECK(cpus_of(nested, 1, 2) == Cores{0, 2});
    CHECK(cpus_of(nested, 0, 2) == Cores{4, 6});
    // The first two have no core in common, but either has one with the third.
    const std::vector<Cores> chain{{0, 1}, {3, 4}, {1, 2, 3}};
    for (int rank = 0; rank < 3; ++rank) CHECK(cpus_of(chain, rank, 2).empty());
    CHECK(cpus_of(chain, 2, 1) == Cores{2});
}

TEST_CASE("where the cores of a rank are unknown the system places its threads") {
    CHECK(cpus_of({{}, {0, 1}}, 0, 1).empty());
    const NodeCores none;
    CHECK(cpus_for_threads(&none, 2).empty());
    CHECK(cpus_for_threads(nullptr, 2).empty());
}
