// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/plan/rate_list.hpp"

#include <doctest/doctest.h>

#include "a2aperf/base/error.hpp"

using namespace a2aperf;

using Rates = std::vector<std::int64_t>;

TEST_CASE("rates, their ranges and lists") {
    CHECK(parse_rates("10000,10k,1.5M") == Rates{10'000, 1'500'000});
    CHECK(parse_rates("1k..10k*3") == Rates{1000, 3000, 9000});
    CHECK(parse_rates("1k..2k+500") == Rates{1000, 1500, 2000});
    CHECK(parse_rates("1k..1M*2").size() == 10);
    for (const char* wrong : {"", "0", "-1", "1.0001k", "1e3", "inf", "nan", "10 k", "10K", "1001M", "1k..1M"})
        CHECK_THROWS_AS(parse_rates(wrong), UsageError);
}

TEST_CASE("a rate is written exactly, and read back") {
    for (const std::int64_t rate : {1, 999, 1000, 1500, 10'000, 1'000'000, 1'024'000, 1'000'000'000})
        CHECK(parse_rates(format_rate(rate)) == Rates{rate});
    CHECK(format_rate(10'000) == "10k");
    CHECK(format_rate(1500) == "1500");
    CHECK(format_rate(2'000'000) == "2M");
}
