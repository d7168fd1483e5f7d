// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/plan/path.hpp"

#include <doctest/doctest.h>

#include "a2aperf/base/error.hpp"
#include "a2aperf/plan/paths_plan.hpp"
#include "a2aperf/plan/point.hpp"

using namespace a2aperf;

TEST_CASE("a path says its ranks, and of the rest what it wants") {
    const AskedPath plain = AskedPath::parse("2:5");
    CHECK(plain.from == 2);
    CHECK(plain.to == 5);
    CHECK(!plain.size);
    CHECK(!plain.window);
    CHECK(!plain.mode);
    CHECK(plain.start == 0);
    CHECK(plain.traffic_class == TrafficClass());

    const AskedPath all = AskedPath::parse("0:1,start=5s,class=bulk,size=8MiB,mode=write-imm,window=4");
    CHECK(all.traffic_class.text() == "bulk");
    CHECK(all.size == 8U << 20U);
    CHECK(all.window == 4);
    CHECK(all.mode == "write-imm");
    CHECK(all.start == 5'000'000'000);
}

TEST_CASE("what is no path is told in one line") {
    const auto refused = [](const char* text, const char* words) {
        CHECK_THROWS_WITH_AS(AskedPath::parse(text), doctest::Contains(words), UsageError);
    };
    for (const char* text : {"", "0", "0:", ":1", "a:b", "0:1:2", "-1:0", "0:1x", "class=bulk"})
        refused(text, "begins with its two ranks, as in 0:1,size=4096");
    refused("3:3", "the path 3:3 leads from a rank to itself");
    for (const char* text : {"0:1,", "0:1,bulk", "0:1,sise=4", "0:1,,size=4"})
        refused(text, "expected class, size, window, mode, start");
    refused("0:1,mode=tagged,mode=msg", "mode is there twice");
    refused("0:1,size=1,size=2", "size is there twice");
    refused("0:1,size=1..4*2", "a path has one size");
    refused("0:1,size=4x", "4x");
    refused("0:1,window=0", "expected a whole number from 1");
    refused("0:1,window=-3", "expected a whole number from 1");
    refused("0:1,start=-1s", "-1s");
    refused("0:1,class=fast", "unknown class 'fast'");
}

TEST_CASE("of each mode of its paths a point is asked for by itself") {
    PathsPlan plan;
    plan.paths = {
        {0, 1, {}, 8, 4, "tagged", 0, 0}, {0, 1, {}, 4096, 2, "msg", 0, 1}, {1, 0, {}, 64, 500, "tagged", 0, 2}};
    Point point;
    point.mode = kMixedModes;
    point.message_size = 4096;
    point.flow = std::make_shared<PathsPlan>(plan);
    const std::vector<Point> of = point.by_modes();
    REQUIRE(of.size() == 2);
    CHECK(of[0].mode == "tagged");
    CHECK(of[0].message_size == 64);
    CHECK(of[0].flow->room(of[0]).messages == 500);
    CHECK(of[1].mode == "msg");
    CHECK(of[1].message_size == 4096);
    CHECK(of[1].flow->room(of[1]).messages == 2);
    CHECK(point.flow->room(point).messages == 500);
    const std::vector<VerifiedSize> verified = plan.verified(point);
    REQUIRE(verified.size() == 3);
    CHECK(verified[1].mode == "msg");
    CHECK(Point().by_modes().size() == 1);
}

TEST_CASE(
    "an endpoint of a rank is of one path, and others have its number only where all ranks can set their class") {
    const auto of = [](std::initializer_list<const char*> texts) {
        std::vector<AskedPath> paths;
        for (const char* text : texts) paths.push_back(AskedPath::parse(text));
        return channels_of(paths);
    };
    using Channels = std::vector<int>;
    CHECK(of({"0:1"}) == Channels{0});
    CHECK(of({"0:1", "0:1", "1:0"}) == Channels{0, 1, 2});
    CHECK(of({"0:1", "1:2", "2:3", "3:0"}) == Channels{0, 1, 0, 1});
    CHECK(of({"0:1,class=sl1", "2:3,class=sl3", "4:5"}) == Channels{0, 0, 0});
    CHECK(of({"0:1,class=bulk", "2:3,class=bulk", "4:5,class=dscp10"}) == Channels{0, 0, 1});
    CHECK(of({"0:1,class=bulk", "2:3", "4:5,class=sl1"}) == Channels{0, 1, 1});
}

TEST_CASE("a file has a path a line") {
    const std::vector<AskedPath> paths =
        parse_path_lines("paths.txt", "# three\n0:1,class=bulk\r\n\n  0:1  # the second\n2:1,size=0");
    REQUIRE(paths.size() == 3);
    CHECK(paths[0].traffic_class.text() == "bulk");
    CHECK(paths[1].from == 0);
    CHECK(paths[2].size == 0U);
    CHECK_THROWS_WITH_AS(parse_path_lines("paths.txt", "0:1\nfoo\n"), doctest::Contains("paths.txt, line 2: "),
                         UsageError);
    CHECK_THROWS_WITH_AS(parse_path_lines("paths.txt", "# none\n"), doctest::Contains("has no path"), UsageError);
}

TEST_CASE("paths as text say all that they are") {
    CHECK(text_of({{0, 1, TrafficClass::parse("sl1"), 4096, 32, "tagged", 0, 0},
                   {2, 1, {}, 0, 1, "msg", 5'000'000'000, 0}}) ==
          "0:1 class=sl1 size=4096 window=32 mode=tagged; 2:1 size=0 window=1 mode=msg start=5s");
}
