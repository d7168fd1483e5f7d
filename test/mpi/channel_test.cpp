// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/measure/channel.hpp"

#include <algorithm>
#include <cstring>
#include <deque>
#include <set>

#include <fmt/format.h>

#include "a2aperf/base/error.hpp"
#include "a2aperf/measure/adapters.hpp"
#include "a2aperf/transfer/tagged.hpp"
#include "measure/verifier.hpp"
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

TEST_CASE("a rank has two channels at once, each with all of its own, and exchanges over each move verified data") {
    Rig rig({"tagged", "write-imm"}, job().ranks(), 2);
    const auto all = rig.channels.all();
    REQUIRE(all.size() == 2);
    CHECK(all[0]->domain().get() != all[1]->domain().get());
    CHECK(all[0]->endpoint().address() != all[1]->endpoint().address());
    CHECK(all[0]->endpoint().queue() != all[1]->endpoint().queue());
    CHECK(all[0]->send_buffer() != all[1]->send_buffer());
    CHECK(all[0]->adapter().name == all[1]->adapter().name);
    for (int round = 0; round < 2; ++round)
        for (const std::string mode : {"tagged", "write-imm"})
            for (std::size_t i = 0; i < 2; ++i) {
                const Point point = point_of(mode);
                EngineParts over_one = rig.parts(point, 1);
                over_one.channels = all.subspan(i, 1);
                find_mode(mode).verify(over_one);
            }
}

TEST_CASE("an op may be under way on both channels; messages of one are not taken for the other's") {
    Rig rig({"tagged"}, job().ranks(), 2);
    constexpr std::uint64_t kOp = 77;
    std::vector<Rank> peers;
    for (Rank peer = 0; peer < job().ranks(); ++peer)
        if (peer != job().rank()) peers.push_back(peer);
    const Peers round{peers, peers};
    std::vector<Exchange<Tagged>> exchanges;
    std::deque<TransferContext> contexts;
    for (Channel* channel : rig.channels.all()) {
        const TransferContext& context = contexts.emplace_back(channel->context(kMessage));
        const std::uint64_t seed = exchanges.size(); // of the channel: a payload of its own
        for (const Rank peer : peers)
            fill_payload(memory_kinds().front(),
                         message_at(context.send_buffer, context.send_offset, peer, kMessage),
                         {seed, context.self, peer, kOp});
        Exchange<Tagged>& exchange =
            exchanges.emplace_back(context, channel->endpoint(), peers, peers, ExchangeSettings{}, rig.deadline);
        exchange.begin(kOp); // the same on both
        exchange.post_all_receives();
    }
    job().barrier();
    for (Exchange<Tagged>& exchange : exchanges) exchange.run();
    for (std::size_t i = 0; i < exchanges.size(); ++i)
        check_bytes(exchanges[i], rig.channels.all()[i]->memory(), round, job(), point_of("tagged"), contexts[i],
                    kOp, i);
    // Others may wait for what this rank's provider has yet to move.
    job().enter({});
    while (!job().is_agreed())
        for (Exchange<Tagged>& exchange : exchanges) exchange.progress();
}

TEST_CASE("a provider that allows a process one endpoint is not asked for two") {
    CHECK(channels_trouble("psm2", 2) == "psm2 opens 1 endpoint in a process, not 2");
    CHECK(!channels_trouble("psm2", 1));
    for (const char* name : {"tcp;ofi_rxm", "shm", "net", "verbs;ofi_rxm"}) CHECK(!channels_trouble(name, 8));
    InfoPtr info(fi_allocinfo());
    info->fabric_attr->prov_name = strdup("psm2");
    CHECK_THROWS_AS(Channels(job(), Offer(std::move(info)), {}, ChannelCounts{.own = 2}), UsageError);
}

TEST_CASE("adapters in use on a node are there once, and each port of one") {
    std::vector<NicFacts> mine(3);
    mine[0].name = mine[1].name = "card";
    mine[0].port = "1";
    mine[1].port = "2";
    mine[1].link_rate_gbps = 25;
    mine[2].name = "plain"; // its port is not known
    mine[2].driver = "driver";
    std::size_t nodes = 0;
    for (const std::vector<NicFacts>& of_node : adapters_in_use(job(), mine)) {
        ++nodes;
        REQUIRE(of_node.size() == 3);
        for (std::size_t i = 0; i < 3; ++i) {
            CHECK(of_node[i].name == mine[i].name);
            CHECK(of_node[i].port == mine[i].port);
            CHECK(of_node[i].link_rate_gbps == mine[i].link_rate_gbps);
            CHECK(of_node[i].driver == mine[i].driver);
        }
    }
    CHECK(nodes == static_cast<std::size_t>(job().layout().nodes()));
}

TEST_CASE("ranks of a node that use two ports of an adapter have its name with the port") {
    std::vector<NicFacts> mine(2);
    mine[0].name = "card";
    mine[0].port = job().rank() % 2 == 0 ? "1" : "2";
    mine[1].name = "other";
    mine[1].port = "1";
    const std::vector<std::string> names = names_by_rank(job(), mine);
    if (!job().is_root()) return;
    const bool is_one_node = job().layout().nodes() == 1;
    for (Rank rank = 0; rank < job().ranks(); ++rank)
        CHECK(names[static_cast<std::size_t>(rank)] ==
              (is_one_node ? fmt::format("card/{},other", rank % 2 + 1) : std::string("card,other")));
}
