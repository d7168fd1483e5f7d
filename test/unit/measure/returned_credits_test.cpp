// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/measure/returned_credits.hpp"

#include <algorithm>
#include <deque>

#include <doctest/doctest.h>

using namespace a2aperf;

namespace {

// The rule as it is said, computed anew each time.
struct Rule {
    std::int64_t window;
    std::int64_t told = 0, known = 0;
    std::deque<std::int64_t> on_the_way{};

    bool is_due(std::int64_t heard, std::int64_t freed) {
        while (!on_the_way.empty() && on_the_way.front() <= heard - window) {
            known = on_the_way.front();
            on_the_way.pop_front();
        }
        const std::int64_t left = kStreamCredits - std::ssize(on_the_way);
        return freed > told && left > 0 && (freed - told) * left >= known + window - told;
    }
    void tell(std::int64_t freed) {
        on_the_way.push_back(freed);
        told = freed;
    }
};

} // namespace

TEST_CASE("a credit is due where those that are left cover what may still come, and not before") {
    for (const std::int64_t window : {1, 2, 7, 16, 17, 64, 1000}) {
        CAPTURE(window);
        ReturnedCredits credits(window);
        Rule rule{window};
        std::int64_t credit = 0, told_places = 0, received = 0, freed = 0;
        for (std::uint64_t round = 1; received < 20 * window + 500; ++round) {
            const std::uint64_t draw = round * 0x9e3779b97f4a7c15 >> 56U;
            // The sender has had some of the credits that are on the way, and sends as many as it may, or fewer.
            if (draw % 3 == 0) credit = credits.told();
            received = std::min(credit + window, received + static_cast<std::int64_t>(draw % 5));
            freed += draw % 7 == 0 ? 0 : received - freed; // there may be no room for a receive
            const bool is_due = rule.is_due(received, freed);
            CHECK((credits.has_news(received, freed) || !is_due));
            credits.hear(received);
            REQUIRE(credits.is_due(freed) == is_due);
            if (!is_due) continue;
            CHECK(credits.next() == static_cast<std::size_t>(told_places++ % kStreamCredits));
            credits.tell(freed);
            rule.tell(freed);
            CHECK(credits.told() == freed);
            CHECK(!credits.is_due(freed)); // it is told once
        }
    }
}

TEST_CASE("no more credits than there are places are on the way, and none tells of nothing") {
    ReturnedCredits credits(64);
    CHECK(!credits.may_tell(0));
    for (int told = 1; told <= kStreamCredits; ++told) {
        CHECK(credits.may_tell(told));
        credits.tell(told);
        CHECK(!credits.may_tell(told));
    }
    CHECK(!credits.may_tell(kStreamCredits + 1));
    CHECK(!credits.is_due(64));
    credits.hear(65); // what the first one allowed has come
    CHECK(credits.may_tell(kStreamCredits + 1));
}
