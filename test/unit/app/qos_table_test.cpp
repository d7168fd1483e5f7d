// SPDX-License-Identifier: BSD-3-Clause
#include "app/qos_table.hpp"

#include <doctest/doctest.h>

using namespace a2aperf;

namespace {

constexpr Nanoseconds kInterval = 1'000'000'000;

// A second each.
std::vector<PathInterval> path_of(const std::vector<std::int64_t>& messages) {
    std::vector<PathInterval> made;
    for (const std::int64_t count : messages)
        made.push_back({static_cast<Nanoseconds>(made.size()) * kInterval, kInterval, count, 0});
    return made;
}

std::vector<std::string> remarks(const std::vector<std::int64_t>& messages, bool is_cut) {
    const std::vector<Path> paths{{0, 1, {}, 8, 1, "tagged", 0, 0}, {1, 0, {}, 8, 1, "tagged", 0, 0}};
    return remarks_on({path_of(messages), path_of({9, 9, 9, 9, 9})}, paths, is_cut);
}

} // namespace

TEST_CASE("a path that gets nothing any more, and one that got nothing for a while") {
    CHECK(remarks({9, 9, 9, 9, 9}, false).empty());
    CHECK(remarks({9, 9, 9, 0, 0}, false) == std::vector<std::string>{"path 0 (0:1) got nothing since 3.0 s"});
    CHECK(remarks({9, 0, 0, 9, 0}, false) == std::vector<std::string>{"path 0 (0:1) got nothing since 4.0 s"});
    CHECK(remarks({9, 0, 0, 9, 9}, false) ==
          std::vector<std::string>{"path 0 (0:1) got nothing from 1.0 s to 3.0 s"});
}

TEST_CASE("of what came after the intervals that are kept nothing is said") {
    CHECK(remarks({9, 9, 9, 9, 0}, true) ==
          std::vector<std::string>{"path 0 (0:1) got nothing from 4.0 s to 5.0 s"});
}
