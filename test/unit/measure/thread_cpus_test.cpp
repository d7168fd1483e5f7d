// SPDX-License-Identifier: BSD-3-Clause
#include "measure/thread_cpus.hpp"

#include <vector>

#include <doctest/doctest.h>

using namespace a2aperf;

TEST_CASE("threads have cores of their rank, or of its share of the node, where there are enough") {
    const std::vector<int> cpus{0, 2, 4, 6, 8, 10, 12};
    const auto of = [&](bool is_bound, int local_index, int threads) {
        return cpus_for_threads(cpus, {.is_bound = is_bound, .ranks = 3, .local_index = local_index}, threads);
    };
    CHECK(of(false, 0, 2) == std::vector{0, 2});
    CHECK(of(false, 2, 2) == std::vector{8, 10});
    CHECK(of(false, 0, 3).empty()); // nine of seven
    CHECK(of(true, 2, 2) == std::vector{0, 2});
    CHECK(of(true, 2, 7).size() == 7);
    CHECK(of(true, 0, 8).empty());
}
