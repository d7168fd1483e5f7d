// SPDX-License-Identifier: BSD-3-Clause
#include "app/known_settings.hpp"

#include <algorithm>

#include <doctest/doctest.h>

#include "a2aperf/config/selection.hpp"
#include "app/search_plan.hpp"
#include "support/catalogue.hpp"

using namespace a2aperf;
using a2aperf::test::catalogue;

TEST_CASE("what is tried are values of options of an all-to-all, each once, and none is the default") {
    for (const TriedOption& option : tried_options()) {
        CAPTURE(option.name);
        const OptionRow* row = option_of(option.name, alltoall().row());
        REQUIRE(row != nullptr);
        CHECK(&tried_option(option.name) == &option);
        std::vector<std::string> values = tried_values(option.name);
        REQUIRE_FALSE(values.empty());
        values.insert(values.begin(), std::string(option.usual));
        for (std::size_t i = 0; i < values.size(); ++i) {
            CAPTURE(values[i]);
            CHECK(std::count(values.begin(), values.end(), values[i]) == 1);
            if (option.name == "mode" && i > 0) {
                CHECK(values[i] == "all"); // of the provider, whatever it offers
                continue;
            }
            const Options usual = default_options(alltoall().row());
            Options options = usual;
            CHECK_NOTHROW(row->set(options, std::span(&values[i], 1), catalogue()));
            const auto is_usual = [&] {
                const auto &ours = alltoall_options(options), &theirs = alltoall_options(usual);
                return options.modes == usual.modes && options.schedules == usual.schedules &&
                       options.windows == usual.windows && options.polls == usual.polls &&
                       ours.chunks == theirs.chunks && ours.endpoints == theirs.endpoints &&
                       ours.threads == theirs.threads;
            };
            CHECK(is_usual() == (i == 0));
        }
    }
}

TEST_CASE("every option of which a search tries values has a row") {
    for (const TriedOption& option : tried_options())
        CHECK(kSearched.find("--" + std::string(option.name)) != std::string_view::npos);
    CHECK(std::ranges::count(kSearched, '-') == 2 * std::ssize(tried_options()));
}

TEST_CASE("what is known to be faster is a mode, and none of those that it is faster than") {
    REQUIRE_FALSE(faster_settings().empty());
    for (const KnownFaster& known : faster_settings()) {
        CAPTURE(known.provider);
        std::vector<std::string> modes{std::string(known.mode)};
        for (const std::string_view than : known.than) {
            CHECK(std::ranges::count(modes, than) == 0);
            modes.emplace_back(than);
        }
        CHECK(modes.size() > 1);
        CHECK_NOTHROW(parse_modes(modes, catalogue()));
        CHECK(known.above > 0);
    }
}
