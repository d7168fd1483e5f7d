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
        // The data that name op and source reach the target only where the endpoint carries them.
        const bool asks_for_data = (Mode::kCapabilities & (FI_REMOTE_CQ_DATA | FI_REMOTE_WRITE)) != 0;
        CHECK(asks_for_data == (carries_data(Mode::kArrival) || Mode::kArrival == Arrival::flag));
        // A flag comes behind its message only where that was asked for.
        CHECK((Mode::kOrder == FI_ORDER_WAW) == (Mode::kArrival == Arrival::flag));
        // Nobody touches the memory of another rank without the right to.
        const bool writes = (Mode::kCapabilities & FI_REMOTE_WRITE) != 0;
        CHECK(writes == ((Mode::kRights.target & FI_REMOTE_WRITE) != 0));
        CHECK(writes == (Mode::kReceiveSpace == ReceiveSpace::per_peer));
        const bool reads = (Mode::kCapabilities & FI_REMOTE_READ) != 0;
        CHECK(reads == (Mode::kRights.source == FI_REMOTE_READ && Mode::kRights.target == FI_READ));
        CHECK(reads == (Mode::kInitiator == Initiator::receiver));
    });
    CHECK(names == std::set<std::string_view>{"tagged", "msg", "write-imm", "read", "write"});
}

// A mode that leaves something out, each in its own way.
struct WithoutRights : Tagged {
    static constexpr int kRights = 0;
};
struct OfNoSource : Msg {
    static constexpr Arrival kArrival = Arrival::receive;
};
struct WithoutStrays : WriteImm {
    static constexpr Arrival kArrival = Arrival::receive_with_data;
};
struct OfNobody : Read {
    static constexpr Initiator kInitiator = Initiator::sender;
};
struct ToldToTheSource : Read {
    static constexpr Arrival kArrival = Arrival::data;
};
struct WithoutFlags : Tagged {
    static constexpr Arrival kArrival = Arrival::flag;
};
struct WithoutReceives : Write {
    static constexpr Arrival kArrival = Arrival::data;
};
static_assert(TransferMode<Tagged> && TransferMode<Msg> && TransferMode<WriteImm> && TransferMode<Read>);
static_assert(TransferMode<Write> && !TransferMode<WithoutFlags> && !TransferMode<WithoutReceives>);
static_assert(!TransferMode<WithoutRights> && !TransferMode<OfNoSource> && !TransferMode<WithoutStrays>);
static_assert(!TransferMode<OfNobody> && !TransferMode<ToldToTheSource>);

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

TEST_CASE("the data of a message fit 4 bytes and name its source") {
    for (const std::uint64_t op : {0UL, 255UL, 256UL, 99999UL})
        for (const Rank source : {0, 5, 10239}) {
            const auto data = message_data(op, source);
            CHECK(data <= 0xffffffffU);
            CHECK((data & kSourceMask) == static_cast<std::uint64_t>(source));
        }
}
