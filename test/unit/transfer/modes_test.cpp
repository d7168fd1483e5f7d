// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/transfer/modes.hpp"

#include <set>

#include <doctest/doctest.h>

using namespace a2aperf;

TEST_CASE("modes have names and capabilities of their own") {
    std::set<std::string_view> names;
    for_each_mode([&]<class Mode>(Mode) {
        CHECK(names.insert(Mode::kName).second);
        CHECK_FALSE(Mode::kAbout.empty());
        CHECK(Mode::kCapabilities != 0);
        // A mode learns of an arrival in one of two ways.
        CHECK(Mode::kPostsReceives != Mode::kAnnouncesByData);
    });
    CHECK(names == std::set<std::string_view>{"tagged", "write-imm"});
}

TEST_CASE("a tag tells sources and ops apart within the 48 bits that every provider has") {
    std::set<std::uint64_t> tags;
    for (const std::uint64_t op : {0UL, 1UL, 255UL, 256UL, (1UL << 24) - 1})
        for (const Rank source : {0, 1, 319, 10239, (1 << 24) - 1}) {
            const auto tag = Tagged::tag(op, source);
            CHECK(tags.insert(tag).second);
            CHECK(tag < (std::uint64_t{1} << 48));
        }
    CHECK(Tagged::tag(1UL << 24, 7) == Tagged::tag(0, 7)); // ops come round after 16 million
}

TEST_CASE("the data of a write fits 4 bytes and names its source") {
    for (const std::uint64_t op : {0UL, 255UL, 256UL, 99999UL})
        for (const Rank source : {0, 5, 10239}) {
            const auto data = WriteImm::data(op, source);
            CHECK(data <= 0xffffffffU);
            CHECK((data & kSourceMask) == static_cast<std::uint64_t>(source));
        }
}
