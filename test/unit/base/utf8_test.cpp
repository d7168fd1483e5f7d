// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/base/utf8.hpp"

#include <doctest/doctest.h>

using namespace a2aperf;

TEST_CASE("valid text stays as it is") {
    for (const char* text : {"", "plain", "grün 速 😀", "\xF4\x8F\xBF\xBF"}) CHECK(valid_utf8(text) == text);
}

TEST_CASE("every byte that is not UTF-8 becomes a replacement character") {
    CHECK(valid_utf8("a\xFFz") == "a\uFFFDz");
    CHECK(valid_utf8("\xC3") == "\uFFFD");                     // cut short
    CHECK(valid_utf8("\xC0\xAF") == "\uFFFD\uFFFD");           // overlong
    CHECK(valid_utf8("\xED\xA0\x80") == "\uFFFD\uFFFD\uFFFD"); // a surrogate
    CHECK(valid_utf8("\xF4\x90\x80\x80") == "\uFFFD\uFFFD\uFFFD\uFFFD");
    CHECK(valid_utf8("\x80") == "\uFFFD");
}

TEST_CASE("text ends at its first NUL") {
    CHECK(valid_utf8(std::string_view("ab\0cd", 5)) == "ab");
}

TEST_CASE("text is cut between characters") {
    CHECK(cut_utf8("12345678", 8) == "12345678");
    CHECK(cut_utf8("123456789", 8) == "12345…");
    CHECK(cut_utf8("1234ü789", 8) == "1234…"); // ü would be halved
    CHECK(cut_utf8("üüüüü", 3) == "…");
}
