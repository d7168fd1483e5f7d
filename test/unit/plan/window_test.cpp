// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/plan/window.hpp"

#include <doctest/doctest.h>

using namespace a2aperf;

TEST_CASE("a window in messages is the same at every size") {
    for (const Bytes size : {Bytes{0}, Bytes{1}, Bytes{1} << 40U}) {
        CHECK(Window{8, 0}.of(size) == 8);
        CHECK(Window{}.of(size) == 0);
    }
}

TEST_CASE("a window in bytes holds as many messages as fit it, and one at least") {
    const Window window{0, 262'144};
    CHECK(window.of(65'536) == 4);
    CHECK(window.of(65'537) == 3);
    CHECK(window.of(262'144) == 1);
    CHECK(window.of(262'145) == 1);
    CHECK(window.of(Bytes{1} << 40U) == 1);
    CHECK(window.of(1) == 262'144);
    CHECK(Window{0, Bytes{1} << 62U}.of(1) == 1'000'000);
}

TEST_CASE("a window is told as one would ask for it") {
    CHECK(Window{}.text() == "all");
    CHECK(Window{8, 0}.text() == "8");
    CHECK(Window{0, 262'144}.text() == "256KiB");
    CHECK(Window{0, 60'000}.text() == "60kB");
    CHECK(Window{0, 8}.text() == "8B");
    CHECK(Window{0, 1'234'567}.text() == "1234567B");
    for (const Bytes bytes : {Bytes{1}, Bytes{999}, Bytes{1000}, Bytes{1024}, Bytes{123'456'789}, Bytes{1} << 50U})
        CHECK(parse_bytes(Window{0, bytes}.text()) == bytes);
}
