// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/measure/channel.hpp"

#include <algorithm>
#include <set>

#include "test/mpi/rig.hpp"

using namespace a2aperf;
using test::job;
using test::kMessage;
using test::point_of;
using test::Rig;

namespace {

// Of each rank in turn: offset(peer) for all peers, [R * R].
template <class Offset>
std::vector<std::uint64_t> of_all_ranks(Offset offset) {
    std::vector<std::uint64_t> mine;
    for (Rank peer = 0; peer < job().ranks(); ++peer) mine.push_back(offset(peer));
    return job().all_gather(std::span<const std::uint64_t>(mine));
}

} // namespace

TEST_CASE("a buffer has as many places as messages fit, and never more than there are ranks") {
    const int ranks = job().ranks();
    const Rig rig({"tagged"}, ranks);
    const Bytes all = kMessage * static_cast<Bytes>(ranks);
    CHECK(rig.channel.slots(kMessage) == ranks);
    CHECK(rig.channel.slots(1) == ranks);
    CHECK(rig.channel.slots(kMessage + 1) == ranks - 1);
    CHECK(rig.channel.slots(all / 2 + 1) == 1);
    CHECK(rig.channel.slots(all) == 1);
    CHECK(rig.channel.slots(all + 1) == 0);
    CHECK(rig.channel.spare() == rig.channel.receive_buffer() + all);
}

TEST_CASE("a message lies at its target where its source writes it, and at its source where its target reads it") {
    const auto ranks = static_cast<std::size_t>(job().ranks());
    for (int places = 1; places <= job().ranks(); ++places) {
        Rig rig({"write-imm", "read"}, places);
        const TransferContext context = rig.channel.context(kMessage);
        const auto peer_of = [&](Rank peer) { return context.remote[static_cast<std::size_t>(peer)]; };
        const auto written = of_all_ranks(
            [&](Rank to) { return context.to(to, nullptr).remote_address - peer_of(to).receive.address; });
        const auto received =
            of_all_ranks([&](Rank from) { return context.from(from, nullptr).message - context.receive_buffer; });
        const auto read = of_all_ranks(
            [&](Rank from) { return context.from(from, nullptr).remote_address - peer_of(from).send.address; });
        const auto offered =
            of_all_ranks([&](Rank to) { return context.to(to, nullptr).message - context.send_buffer; });
        for (std::size_t source = 0; source < ranks; ++source)
            for (std::size_t target = 0; target < ranks; ++target) {
                CHECK(written[source * ranks + target] == received[target * ranks + source]);
                CHECK(read[target * ranks + source] == offered[source * ranks + target]);
                CHECK(written[source * ranks + target] + kMessage <= kMessage * static_cast<Bytes>(places));
            }
        const auto mine = static_cast<std::ptrdiff_t>(static_cast<std::size_t>(job().rank()) * ranks);
        for (const auto* offsets : {&received, &offered}) {
            const std::set<std::uint64_t> different(offsets->begin() + mine,
                                                    offsets->begin() + mine + job().ranks());
            CHECK(different.size() == static_cast<std::size_t>(places));
        }
    }
}

TEST_CASE("there are flags, all of them clear, where a mode tells by them") {
    Rig without({"tagged"}, 1);
    CHECK(without.channel.context(kMessage).flags == nullptr);
    Rig with({"tagged", "write"}, job().ranks());
    const std::uint64_t* flags = with.channel.context(kMessage).flags;
    REQUIRE(flags != nullptr);
    for (int rank = 0; rank < job().ranks(); ++rank) CHECK(flags[rank] == 0);
}

TEST_CASE("channels open and close one after another, and carry ops side by side") {
    const Point tagged = point_of("tagged");
    for (int i = 0; i < 3; ++i) {
        Rig rig({"tagged"}, job().ranks());
        find_mode("tagged").verify(rig.parts(tagged, 1));
    }
    Rig one({"tagged"}, job().ranks());
    Rig other({"write-imm"}, job().ranks());
    for (int i = 0; i < 3; ++i) {
        find_mode("tagged").verify(one.parts(tagged, 1));
        find_mode("write-imm").verify(other.parts(point_of("write-imm"), 1));
    }
}
