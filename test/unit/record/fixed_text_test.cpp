// SPDX-License-Identifier: BSD-3-Clause
#include "record/fixed_text.hpp"

#include <doctest/doctest.h>

namespace a2aperf {
namespace {

TEST_CASE("texts of a fixed length are what they were, and cut where they are longer") {
    const std::string full(kFixedTextBytes, 'x');
    const std::vector<std::string> texts{"", "why", full};
    CHECK(fixed(texts).size() == 3 * kFixedTextBytes);
    CHECK(texts_of(fixed(texts)) == texts);
    CHECK(texts_of(fixed({full + "yz"})).at(0) == std::string(kFixedTextBytes - 3, 'x') + "…");
    CHECK(fixed({}).empty());
    CHECK(texts_of({}).empty());
}

} // namespace
} // namespace a2aperf
