// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/plan/halving.hpp"

#include <limits>
#include <vector>

#include <doctest/doctest.h>

using namespace a2aperf;

namespace {

std::vector<int> points(const std::vector<Trial>& trials) {
    std::vector<int> all;
    for (const Trial& trial : trials) all.push_back(trial.point);
    return all;
}

} // namespace

TEST_CASE("the faster half goes on, the fastest first, of equal times the earlier") {
    CHECK(points(faster_half({{4, 9}, {5, 3}, {6, 7}, {7, 1}})) == std::vector{7, 5});
    CHECK(points(faster_half({{4, 9}, {5, 3}, {6, 7}})) == std::vector{5, 6}); // rounded up
    CHECK(points(faster_half({{6, 2}, {4, 2}})) == std::vector{4});
    CHECK(points(faster_half({{6, 2}})) == std::vector{6});
    CHECK(faster_half({}).empty());
}

TEST_CASE("what had no valid op does not go on, and takes no place of what had") {
    const double none = std::numeric_limits<double>::quiet_NaN();
    CHECK(points(faster_half({{4, none}, {5, 3}, {6, none}, {7, 1}})) == std::vector{7, 5});
    CHECK(points(faster_half({{4, none}, {5, 3}, {6, 2}, {7, 1}})) == std::vector{7, 6});
    CHECK(points(faster_half({{6, none}, {4, none}, {5, none}})) == std::vector{6, 4}); // as they came
}

TEST_CASE("one is left after as many halvings as are told") {
    for (std::size_t count = 1; count < 70; ++count) {
        CAPTURE(count);
        std::vector<Trial> trials;
        for (std::size_t i = 0; i < count; ++i)
            trials.push_back({static_cast<int>(i), static_cast<double>(count - i)});
        int rounds = 0;
        while (trials.size() > 1) {
            trials = faster_half(trials);
            ++rounds;
        }
        CHECK(trials.front().point == static_cast<int>(count) - 1);
        CHECK(rounds == halvings(count));
    }
}
