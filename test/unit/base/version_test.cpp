// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/base/version.hpp"

#include <algorithm>
#include <cctype>

#include <doctest/doctest.h>

using namespace a2aperf;

TEST_CASE("the version is three numbers") {
    const auto version = program_version();
    CHECK(std::count(version.begin(), version.end(), '.') == 2);
    CHECK(std::all_of(version.begin(), version.end(), [](unsigned char c) { return std::isdigit(c) || c == '.'; }));
}

TEST_CASE("the commit is git's word for the sources, or says that there is none") {
    const auto commit = program_commit();
    const auto is_hex = [](unsigned char c) { return std::isxdigit(c) != 0; };
    const auto name = commit.substr(0, commit.find('-'));
    const bool is_commit = name.size() >= 7 && std::all_of(name.begin(), name.end(), is_hex);
    const bool is_known = is_commit || commit == "unknown";
    CHECK(is_known);
}
