// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/plan/size_list.hpp"

#include <limits>
#include <set>
#include <string>
#include <utility>

#include <doctest/doctest.h>

#include "a2aperf/base/error.hpp"
#include "a2aperf/base/random.hpp"
#include "support/sanitizers.hpp"

using namespace a2aperf;

namespace {

using Sizes = std::vector<Bytes>;

template <class Parse>
std::string refusal(Parse parse, std::string_view text) {
    try {
        parse(text);
    } catch (const UsageError& e) {
        return e.what();
    }
    return "accepted";
}

// One line that says why, then what to do instead.
void check_refusal(const std::string& message, std::string_view why) {
    CAPTURE(message);
    const std::size_t at = message.find(why);
    REQUIRE(at != std::string::npos);
    CHECK(message.find(": ", at) != std::string::npos);
    CHECK(message.size() < 240);
    for (const char c : message) REQUIRE((c >= ' ' && c < 0x7f));
}

} // namespace

TEST_CASE("the default is the 24 sizes of the 2019 table") {
    const Sizes expected{1000,  2000,  3000,  4000,  5000,  6000,  7000,  8000,  9000,  10000, 11000, 12000,
                         13000, 14000, 15000, 20000, 25000, 30000, 35000, 40000, 45000, 50000, 55000, 60000};
    CHECK(parse_sizes(kDefaultSizes) == expected);
}

TEST_CASE("single values, ranges and lists of them") {
    for (const auto& row :
         {std::pair<std::string_view, Sizes>{"1", {1}},
          {"8KiB", {8192}},
          {"1000,60kB", {1000, 60'000}},
          {"60kB, 1000", {60'000, 1000}},
          {"1..5+2", {1, 3, 5}},
          {"1..6+2", {1, 3, 5}},
          {"7..7+1", {7}},
          {"7..7*2", {7}},
          {"1kB..3kB+1kB", {1000, 2000, 3000}},
          {"1 kB .. 2 kB + 500", {1000, 1500, 2000}},
          {"1KiB..8KiB*2", {1024, 2048, 4096, 8192}},
          {"1..100*10", {1, 10, 100}},
          {"1..99*10", {1, 10}},
          {"5,5,1..10+5,6", {5, 1, 6}},
          {"9223372036854775807", {9'223'372'036'854'775'807}},
          {"9223372036854775000..9223372036854775807+807", {9'223'372'036'854'775'000, 9'223'372'036'854'775'807}},
          {"4611686018427387904..9223372036854775807*2", {1ULL << 62}}}) {
        const auto text = row.first;
        const auto sizes = row.second;
        CAPTURE(text);
        CHECK(parse_sizes(text) == sizes);
    }
    CHECK(parse_sizes("1KiB..4MiB*2").size() == 13);
    CHECK(parse_sizes("1..9223372036854775807*2").size() == 63);
    CHECK(parse_sizes("1..10000+1").size() == 10'000);
}

TEST_CASE("a message may be empty where that is said") {
    CHECK(parse_sizes("0,1", 0) == std::vector<Bytes>{0, 1});
    CHECK(parse_sizes("0..4+2,0kB", 0) == std::vector<Bytes>{0, 2, 4});
    CHECK_THROWS_WITH_AS(parse_sizes("0..4*2", 0), doctest::Contains("is zero"), UsageError);
}

TEST_CASE("what are no sizes is refused with the way out") {
    for (const auto& row : {std::pair<std::string_view, std::string_view>{"", "are empty"},
                            {" ", "are empty"},
                            {",", "have an empty item"},
                            {"1000,", "have an empty item"},
                            {"1000,,2000", "have an empty item"},
                            {"0", "is zero"},
                            {"0kB", "is zero"},
                            {"0..10+1", "is zero"},
                            {"-1000", "is negative"},
                            {"-5..10+1", "is negative"},
                            {"1..-10+1", "is negative"},
                            {"1..10+-1", "is negative"},
                            {"9223372036854775808", "is too large"},
                            {"99999999999999999999999999999", "is too large"},
                            {"1..20000000TiB*2", "is too large"},
                            {"2000..1000+100", "is reversed"},
                            {"1MiB..1KiB*2", "is reversed"},
                            {"1..10+0", "has a step of 0"},
                            {"1..10*0", "has the factor 0"},
                            {"1..10*1", "has the factor 1"},
                            {"1..10*-2", "has the factor '-2'"},
                            {"1..10*1.5", "has the factor '1.5'"},
                            {"1..10*2kB", "has the factor '2kB'"},
                            {"1..10*", "has the factor ''"},
                            {"1..10+", "is empty"},
                            {"1..10", "has no step"},
                            {"1..", "has no step"},
                            {"..", "has no step"},
                            {"..10+1", "is empty"},
                            {"1..+1", "is empty"},
                            {"1...10+1", "does not start with a number"},
                            {"1..10+1+1", "unknown unit '+1'"},
                            {"1..10..20+1", "has no digit after the decimal point"},
                            {"5Kbit", "unknown unit 'Kbit'"},
                            {"5parsec", "unknown unit 'parsec'"},
                            {"1000;2000", "unknown unit ';2000'"},
                            {"1000-2000", "looks like a range"},
                            {"1000:2000", "looks like a range"},
                            {"all", "does not start with a number"},
                            {"1.5", "is not a whole number of bytes"},
                            {"1..10001+1", "are more than 10000"},
                            {"1..9223372036854775807+1", "are more than 10000"}}) {
        const auto text = row.first;
        const auto why = row.second;
        CAPTURE(text);
        check_refusal(refusal([](std::string_view sizes) { return parse_sizes(sizes); }, text), why);
    }
}

TEST_CASE("OSU's sizes double from MIN to MAX") {
    CHECK(parse_osu_sizes("8") == Sizes{1, 2, 4, 8});
    CHECK(parse_osu_sizes("9") == Sizes{1, 2, 4, 8});
    CHECK(parse_osu_sizes("4:16") == Sizes{4, 8, 16});
    CHECK(parse_osu_sizes("3:13") == Sizes{3, 6, 12});
    CHECK(parse_osu_sizes("1:4194304").size() == 23);
    for (const auto& row : {std::pair<std::string_view, std::string_view>{"", "is empty"},
                            {":", "is empty"},
                            {"1:", "is empty"},
                            {":8", "is empty"},
                            {"0", "is zero"},
                            {"0:8", "is zero"},
                            {"16:4", "is reversed"},
                            {"-4:8", "is negative"},
                            {"1:2:3", "unknown unit ':3'"},
                            {"1:99999999999999999999", "is too large"}}) {
        const auto text = row.first;
        const auto why = row.second;
        CAPTURE(text);
        check_refusal(refusal(parse_osu_sizes, text), why);
    }
}

TEST_CASE("any text gives either sizes or one clear line") {
    // Mutations of what is nearly right reach further into the parser than noise does.
    constexpr std::string_view kLetters = "0123456789..++**,,kKMGTiB -:eE\t\n\x80\xff";
    Random random(31);
    const auto random_text = [&] {
        std::string text(random.below(2) == 0 ? kDefaultSizes : "");
        for (std::uint64_t edits = random.below(12); edits > 0; --edits) {
            const std::size_t at = random.below(text.size() + 1);
            const char letter = random.below(16) == 0 ? static_cast<char>(random.below(256))
                                                      : kLetters[random.below(kLetters.size())];
            text.erase(at, random.below(3));
            text.insert(at, 1, letter);
        }
        return text;
    };
    int accepted = 0;
    int refused = 0;
    const auto try_parse = [&](auto parse, const std::string& text) {
        CAPTURE(text);
        try {
            const Sizes sizes = parse(text);
            ++accepted;
            REQUIRE_FALSE(sizes.empty());
            REQUIRE(sizes.size() <= 10'000);
            REQUIRE(std::set<Bytes>(sizes.begin(), sizes.end()).size() == sizes.size());
            for (const Bytes size : sizes) {
                REQUIRE(size > 0);
                REQUIRE(size <= static_cast<Bytes>(std::numeric_limits<std::int64_t>::max()));
            }
        } catch (const UsageError& e) {
            ++refused;
            check_refusal(e.what(), "");
        }
    };
    for (int i = 0; i < (test::is_sanitized ? 4000 : 20'000); ++i) {
        const std::string text = random_text();
        try_parse([](std::string_view sizes) { return parse_sizes(sizes); }, text);
        try_parse(parse_osu_sizes, text);
    }
    CHECK(accepted > 100);
    CHECK(refused > 1000);
}
