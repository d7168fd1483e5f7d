// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/base/terminal.hpp"

#include <doctest/doctest.h>

using namespace a2aperf;

TEST_CASE("letters and spaces of any script stay") {
    for (const char* text : {"", "node01", "µs – 60\u00A0kB", "節点 😀", "\\x1b"}) CHECK(visible(text) == text);
}

TEST_CASE("what acts on a terminal is shown") {
    CHECK(visible("\x1b[2J") == "\\x1b[2J");
    CHECK(visible("a\r\n\tb\x7F") == "a\\x0d\\x0a\\x09b\\x7f");
    CHECK(visible(std::string_view("a\0b", 3)) == "a\\x00b");
    CHECK(visible("\u009B31m") == "\\xc2\\x9b31m");    // a control sequence in one character
    CHECK(visible("\x9B") == "\\x9b");                 // and in one byte that is not UTF-8
    CHECK(visible("a\u202Eb") == "a\\xe2\\x80\\xaeb"); // right to left from here on
    CHECK(visible("a\u200Bb\uFEFF") == "a\\xe2\\x80\\x8bb\\xef\\xbb\\xbf");
    CHECK(visible("\u0890\u08E2") == "\\xe0\\xa2\\x90\\xe0\\xa3\\xa2"); // marks of Arabic numbers
    CHECK(visible("\U000110CD\U00013439") == "\\xf0\\x91\\x83\\x8d\\xf0\\x93\\x90\\xb9");
    CHECK(visible("\U000E0041") == "\\xf3\\xa0\\x81\\x81"); // a tag
    CHECK(visible("\xE2\x80") == "\\xe2\\x80");             // cut short
}
