// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/stats/shares.hpp"

#include <cmath>

#include <doctest/doctest.h>

using namespace a2aperf;

namespace {

double jain(std::vector<double> amounts) {
    return jain_index(amounts);
}

} // namespace

TEST_CASE("Jain's index is 1 where all got the same and 1/n where one got all") {
    CHECK(jain({5, 5, 5}) == doctest::Approx(1));
    CHECK(jain({7}) == doctest::Approx(1));
    CHECK(jain({9, 0, 0}) == doctest::Approx(1.0 / 3));
    CHECK(jain({1, 1, 2}) == doctest::Approx(16.0 / 18)); // (1 + 1 + 2)^2 / (3 (1 + 1 + 4))
    CHECK(jain({1e200, 1e200}) == doctest::Approx(1));
    CHECK(std::isnan(jain({0, 0})));
    CHECK(std::isnan(jain({})));
}

TEST_CASE("shares are of the sum") {
    const std::vector<double> amounts{1, 1, 2};
    CHECK(shares_of(amounts) == std::vector<double>{0.25, 0.25, 0.5});
    const std::vector<double> nothing{0, 0};
    for (const double share : shares_of(nothing)) CHECK(std::isnan(share));
}
