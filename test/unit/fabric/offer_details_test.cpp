// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/fabric/offer_details.hpp"

#include <algorithm>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "a2aperf/fabric/provider.hpp"

using namespace a2aperf;

TEST_CASE("a provider's limits are those that a launch goes by") {
    const std::vector<Offer> all = offers("shm", FI_MSG);
    REQUIRE_FALSE(all.empty());
    const auto details = offer_details(all.front());
    const auto value_of = [&](std::string_view name) {
        const auto found = std::ranges::find(details, name, &Detail::name);
        REQUIRE(found != details.end());
        return found->value;
    };
    CHECK(value_of("inject") == fmt::format("{} B", all.front().inject_size()));
    CHECK(value_of("receive queue") == fmt::format("{}", all.front().receive_queue()));
    CHECK(value_of("version") == all.front().provider_version());
    CHECK(value_of("completions") == (all.front().completes_in_order() ? "in order" : "in any order"));
}
