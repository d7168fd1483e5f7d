// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/base/error.hpp"

#include <array>
#include <csignal>
#include <new>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace a2aperf;

namespace {

constexpr std::array<std::string_view, 4> kShapes{"shift", "xor", "naive", "node-shift"};

std::string message_for(std::string_view given) {
    try {
        throw_unknown("schedule", given, kShapes);
    } catch (const UsageError& e) {
        return e.what();
    }
}

} // namespace

TEST_CASE("an unknown word is answered with the known ones") {
    CHECK(message_for("quadratic") ==
          "unknown schedule 'quadratic': expected one of shift, xor, naive, node-shift");
}

TEST_CASE("a typing error is answered with what was meant") {
    for (const auto& row : {std::pair{"shfit", "shift"},
                            {"shif", "shift"},
                            {"Shift", "shift"},
                            {"nodeshift", "node-shift"},
                            {"xro", "xor"},
                            {"naiv", "naive"}}) {
        const auto given = row.first;
        const auto meant = row.second;
        CAPTURE(given);
        CHECK(message_for(given).ends_with(fmt::format("(did you mean {}?)", meant)));
    }
}

TEST_CASE("nothing is guessed from nothing") {
    for (const std::string& given : {std::string(), std::string("q"), std::string(10'000, 's')}) {
        CAPTURE(given);
        CHECK(message_for(given).find("did you mean") == std::string::npos);
    }
}

TEST_CASE("a quotation is one short line of printable ASCII") {
    CHECK(quote("60kB") == "'60kB'");
    CHECK(quote("") == "''");
    CHECK(quote("a\nb\x1b[0m") == "'a\\x0ab\\x1b[0m'");
    CHECK(quote("\xc2\xb5") == "'\\xc2\\xb5'");
    CHECK(quote(std::string(1000, 'x')) == fmt::format("'{:x<60}...'", ""));
    CHECK(quote(std::string("\0z", 2)) == "'\\x00z'");
}

TEST_CASE("an interruption names its signal") {
    const Interrupted interrupted(SIGTERM);
    CHECK(interrupted.signal_number() == SIGTERM);
    CHECK(std::string(interrupted.what()).find("15") != std::string::npos);
}

TEST_CASE("errors are told in words, and not by the name of their class") {
    CHECK(words_of(RunError("it broke")) == "it broke");
    CHECK(words_of(std::bad_alloc()) == "out of memory");
}
