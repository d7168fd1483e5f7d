// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/config/values.hpp"

#include <vector>

#include <doctest/doctest.h>

#include "support/usage.hpp"

using namespace a2aperf;
using a2aperf::test::refusal;

TEST_CASE("a count is a whole number within its bounds") {
    CHECK(parse_count("1", 1, 10) == 1);
    CHECK(parse_count("10", 1, 10) == 10);
    for (const char* bad : {"0", "11", "-1", "", " 1", "1 ", "1.0", "1e3", "0x1", "ten", "99999999999999999999"}) {
        CAPTURE(bad);
        CHECK(refusal([&] { parse_count(bad, 1, 10); }).ends_with("is not a whole number from 1 to 10"));
    }
}

TEST_CASE("a seed has 64 bits") {
    CHECK(parse_seed("0") == 0);
    CHECK(parse_seed("18446744073709551615") == 18446744073709551615U);
    CHECK_THROWS_AS(parse_seed("18446744073709551616"), UsageError);
    CHECK_THROWS_AS(parse_seed("-1"), UsageError);
}

TEST_CASE("a share is written with or without percent") {
    CHECK(parse_share("1%") == doctest::Approx(0.01));
    CHECK(parse_share("0.5 %") == doctest::Approx(0.005));
    CHECK(parse_share("0.02") == doctest::Approx(0.02));
    CHECK(parse_share("50%") == doctest::Approx(0.5));
    for (const char* bad : {"1", "0", "0%", "-1%", "51%", "0.001%", "%", "", "1%%", "nan", "inf%", "one"}) {
        CAPTURE(bad);
        CHECK(refusal([&] { parse_share(bad); }).ends_with("is not a share from 0.01% to 50%"));
    }
}

TEST_CASE("a rate is in Gbit/s, or has its unit") {
    struct Example {
        const char* text;
        double gbps;
    };
    constexpr Example kExamples[] = {
#include "rates.inc"
    };
    for (const Example& one : kExamples) {
        CAPTURE(one.text);
        if (one.gbps > 0)
            CHECK(parse_gbps(one.text) == doctest::Approx(one.gbps));
        else
            CHECK(refusal([&] { parse_gbps(one.text); }).find("is not a rate above zero, up to 1000000 Gbit/s") !=
                  std::string::npos);
    }
}

TEST_CASE("a switch is one of the usual words") {
    for (const char* word : {"true", "yes", "on", "1"}) CHECK(parse_switch(word));
    for (const char* word : {"false", "no", "off", "0"}) CHECK_FALSE(parse_switch(word));
    CHECK_THROWS_AS(parse_switch("maybe"), UsageError);
    CHECK_THROWS_AS(parse_switch(""), UsageError);
}

TEST_CASE("an assignment splits at its first equals sign") {
    const Assignment label = parse_assignment("note=a=b, c");
    CHECK(label.name == "note");
    CHECK(label.value == "a=b, c");
    CHECK(parse_assignment("PSM2_RCVTHREAD=0").name == "PSM2_RCVTHREAD");
    CHECK(parse_assignment("empty=").value.empty());
    CHECK(refusal([] { parse_assignment("note"); }) == "'note' is not NAME=VALUE");
    CHECK(refusal([] { parse_assignment("=x"); }).find("is not a name") != std::string::npos);
    CHECK(refusal([] { parse_assignment("a b=x"); }).find("is not a name") != std::string::npos);
}

TEST_CASE("a list keeps its order and drops doubles") {
    const std::vector<std::string> texts{"b,a", "c,b"};
    CHECK(split_list(texts) == std::vector<std::string>{"b", "a", "c"});
    CHECK(split_list(std::vector<std::string>{"a,moe(b=1,c=2),d(,),e)"}) ==
          std::vector<std::string>{"a", "moe(b=1,c=2)", "d(,)", "e)"});
    CHECK(split_list(std::vector<std::string>{"a,b(c,d(e,f),g)h,i"}) ==
          std::vector<std::string>{"a", "b(c,d(e,f),g)h", "i"});
    // One that is not closed is part of a name.
    CHECK(split_list(std::vector<std::string>{"run(1.csv"}) == std::vector<std::string>{"run(1.csv"});
    CHECK(split_list(std::vector<std::string>{"run(1.csv,moe(b=1,c=2),(("}) ==
          std::vector<std::string>{"run(1.csv", "moe(b=1,c=2)", "(("});
    for (const char* bad : {"", ",", "a,", ",a", "a,,b"}) {
        CAPTURE(bad);
        CHECK(refusal([&] { split_list(std::vector<std::string>{bad}); }).starts_with("empty item in"));
    }
}

TEST_CASE("an unknown word is answered with the known ones") {
    const auto pick = [](const char* text) { return choose<int>("speed", text, {{"slow", 1}, {"fast", 2}}); };
    CHECK(pick("fast") == 2);
    CHECK(refusal([&] { pick("fats"); }) ==
          "unknown speed 'fats': expected one of slow, fast (did you mean fast?)");
    CHECK(refusal([&] { pick(""); }).starts_with("unknown speed '': expected one of slow, fast"));
}

TEST_CASE("a command line can be typed again") {
    const std::vector<const char*> words{"a2aperf", "--label", "note=it's a \"b\"", "1..2*2", ""};
    CHECK(join_for_shell(words) == R"(a2aperf --label 'note=it'\''s a "b"' '1..2*2' '')");
}
