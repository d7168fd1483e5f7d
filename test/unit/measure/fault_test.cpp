// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/measure/fault.hpp"

#include <cstdlib>
#include <string>

#include <doctest/doctest.h>

#include "a2aperf/base/error.hpp"

using namespace a2aperf;

namespace {

std::optional<Fault> fault_of(const char* text) {
    setenv("A2APERF_FAULT", text, 1);
    struct Cleanup {
        ~Cleanup() { unsetenv("A2APERF_FAULT"); }
    } const cleanup;
    return requested_fault();
}

} // namespace

TEST_CASE("no variable, no fault") {
    unsetenv("A2APERF_FAULT");
    CHECK_FALSE(requested_fault().has_value());
}

TEST_CASE("a fault has a kind and the rank that does it") {
    const auto check = [](const char* text, FaultKind kind, Rank rank) {
        CAPTURE(text);
        const auto fault = fault_of(text);
        REQUIRE(fault.has_value());
        CHECK(fault->kind == kind);
        CHECK(fault->rank == rank);
    };
    check("flip:1", FaultKind::flip_byte, 1);
    check("lose:0", FaultKind::lose_message, 0);
    check("double:2", FaultKind::double_message, 2);
    check("misdirect:319", FaultKind::misdirect_message, 319);
}

TEST_CASE("anything else is refused and says what would be right") {
    for (const char* text : {"", "flip", "flip:", ":1", "flop:1", "flip:one", "flip:1x", "flip: 1", "flip:-1",
                             "flip:99999999999", "flip:1:2", "Flip:1"}) {
        CAPTURE(text);
        std::string words;
        try {
            (void)fault_of(text);
        } catch (const UsageError& error) {
            words = error.what();
        }
        CHECK(words == "A2APERF_FAULT is '" + std::string(text) +
                           "': it must be flip:RANK, lose:RANK, double:RANK or misdirect:RANK, or not set");
    }
}
