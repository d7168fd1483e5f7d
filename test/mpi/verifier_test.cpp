// SPDX-License-Identifier: BSD-3-Clause
#include "measure/verifier.hpp"

#include <algorithm>
#include <set>
#include <string>

#include <fmt/format.h>

#include "a2aperf/base/error.hpp"
#include "a2aperf/transfer/tagged.hpp"
#include "test/mpi/rig.hpp"

using namespace a2aperf;
using test::job;
using test::kMessage;
using test::point_of;
using test::Rig;

namespace {

constexpr std::uint64_t kSeed = 7;

// The words of a call that must fail; empty when it doesn't.
template <class Call>
std::string failure(Call call) {
    try {
        call();
    } catch (const RunError& error) {
        return error.what();
    }
    return {};
}

Rank next_rank() {
    return (job().rank() + 1) % job().ranks();
}

std::vector<Rank> others() {
    std::vector<Rank> peers;
    for (Rank peer = 0; peer < job().ranks(); ++peer)
        if (peer != job().rank()) peers.push_back(peer);
    return peers;
}

} // namespace

TEST_CASE("every mode is verified with a place for each peer, and where it may with fewer") {
    const std::vector<std::string> modes{"tagged", "msg", "write-imm", "read", "write"};
    for (const int places : {job().ranks(), 2, 1}) {
        Rig rig(modes, places);
        for (const std::string& mode : modes) {
            if (places < job().ranks() && find_mode(mode).receive_space == ReceiveSpace::per_peer) continue;
            const Point point = point_of(mode);
            const std::uint64_t before = rig.loop.next_op();
            CHECK(failure([&] { find_mode(mode).verify(rig.parts(point, kSeed)); }) == "");
            // An op for each round.
            const int peers = job().ranks() - 1;
            const int rounds = places < job().ranks() ? (peers + places - 1) / places : 1;
            CHECK(rig.loop.next_op() == before + static_cast<std::uint64_t>(rounds) + 1);
        }
    }
}

TEST_CASE("bytes of another payload than the receiver expects end the verification, and name their sender") {
    Rig rig({"tagged", "write-imm"}, job().ranks());
    const Rank liar = job().ranks() - 1;
    for (const char* mode : {"tagged", "write-imm"}) {
        const Point point = point_of(mode);
        const std::uint64_t seed = job().rank() == liar ? kSeed + 1 : kSeed;
        const std::string words = failure([&] { find_mode(mode).verify(rig.parts(point, seed)); });
        CHECK(words.starts_with("verification of " + point.label() + " failed: byte "));
        const std::string sender = job().rank() == liar ? "" : job().who(liar);
        CHECK(words.find("of the message from " + sender) != std::string::npos);
        CHECK(words.find("to " + job().who(job().rank()) + " is 0x") != std::string::npos);
    }
}

TEST_CASE("in every mode chunks are verified as messages are, over one endpoint and dealt over two") {
    const std::vector<std::string> modes{"tagged", "msg", "write-imm", "read", "write"};
    for (const int count : {1, 2}) {
        if (count == job().ranks()) continue;
        Rig rig(modes, 4 * job().ranks(), count); // of whole chunks, and a flag for each
        for (const std::string& mode : modes) {
            Point point = point_of(mode);
            point.chunk = 700;
            point.channels = count;
            const auto engine = find_mode(mode).make_engine(rig.parts(point, kSeed));
            CHECK(failure([&] { find_mode(mode).verify(rig.parts(point, kSeed)); }) == "");
            OwnSamples samples;
            CHECK(rig.loop.run(*engine, 5, samples) == 5);
        }
    }
}

TEST_CASE("of messages that are cut, a chunk in another's place, or one that is missing, is told") {
    Rig rig({"tagged"}, 2 * job().ranks());
    Point point = point_of("tagged");
    point.chunk = 1000;
    find_mode("tagged").verify(rig.parts(point, kSeed));
    const Messages<Tagged> messages(rig.channel, point);
    const TransferContext& context = messages.context();
    const Peers round = messages.of({{}, others()});
    const Exchange<Tagged> exchange(context, rig.channel.endpoint(), {}, round.receives, {}, rig.deadline);
    const auto check = [&] {
        return failure(
            [&] { check_bytes(exchange, rig.channel.memory(), round, job(), point, context, 1, kSeed); });
    };
    CHECK(check() == "");
    const Rank first = 3 * next_rank();
    std::swap_ranges(exchange.place_of(first + 1), exchange.place_of(first + 1) + 1000, exchange.place_of(first));
    CHECK(check().find(fmt::format("of chunk 0 of the message from {}", job().who(next_rank()))) !=
          std::string::npos);

    std::vector<std::uint32_t> arrivals(static_cast<std::size_t>(context.ranks));
    for (const Rank index : round.receives) arrivals[static_cast<std::size_t>(index)] = 1;
    arrivals[static_cast<std::size_t>(first + 2)] = 0;
    CHECK(failure([&] {
              check_arrivals(arrivals, round, job(), point, context, "verification op 5");
          }).find(fmt::format("0 messages (chunk 2 of it) of {}", job().who(next_rank()))) != std::string::npos);
}

TEST_CASE("one wrong byte is told with both ranks, its offset, what it is and what it would be") {
    Rig rig({"tagged"}, job().ranks());
    const Point point = point_of("tagged");
    find_mode("tagged").verify(rig.parts(point, kSeed));
    constexpr std::uint64_t kOp = 1;

    const TransferContext context = rig.channel.context(kMessage);
    const Exchange<Tagged> exchange(context, rig.channel.endpoint(), {}, others(), {}, rig.deadline);
    const Peers round{{}, others()};
    const auto check = [&] {
        return failure(
            [&] { check_bytes(exchange, rig.channel.memory(), round, job(), point, context, kOp, kSeed); });
    };
    CHECK(check() == "");
    for (const std::size_t offset : {std::size_t{0}, std::size_t{17}, std::size_t{kMessage} - 1}) {
        std::byte& byte = exchange.place_of(next_rank())[offset];
        const std::byte right = byte;
        byte ^= std::byte{0x10};
        CHECK(check() ==
              fmt::format("verification of {} failed: byte {} of the message from {} to {} is {:#04x}, not "
                          "{:#04x} (op 0)",
                          point.label(), offset, job().who(next_rank()), job().who(job().rank()),
                          static_cast<int>(byte), static_cast<int>(right)));
        byte = right;
    }
    // Of another op, it is wrong.
    CHECK(failure([&] {
              check_bytes(exchange, rig.channel.memory(), round, job(), point, context, kOp + 1, kSeed);
          }) != "");
}

TEST_CASE("a message that is missing, doubled or for nobody is told with its source") {
    const Point point = point_of("tagged");
    TransferContext context{};
    context.self = job().rank();
    const Peers round{others(), others()};
    std::vector<std::uint32_t> arrivals(static_cast<std::size_t>(job().ranks()), 1);
    arrivals[static_cast<std::size_t>(job().rank())] = 0;
    const auto check = [&] {
        return failure([&] { check_arrivals(arrivals, round, job(), point, context, "verification op 5"); });
    };
    CHECK(check() == "");
    auto& of_next = arrivals[static_cast<std::size_t>(next_rank())];
    const std::string begin = "verification of " + point.label() + " failed: ";
    const std::string names = " of " + job().who(next_rank()) + " arrived at " + job().who(job().rank());
    of_next = 0;
    CHECK(check() == begin + "0 messages" + names + " in verification op 5, expected 1");
    of_next = 2;
    CHECK(check() == begin + "2 messages" + names + " in verification op 5, expected 1");
    of_next = 1;
    arrivals[static_cast<std::size_t>(job().rank())] = 1;
    CHECK(check() == begin + "an extra message arrived at " + job().who(job().rank()) +
                         " in verification op 5: sent twice, or to the wrong rank");
    const Peers empty;
    arrivals[static_cast<std::size_t>(job().rank())] = 0;
    CHECK(failure([&] {
              check_arrivals(arrivals, empty, job(), point, context, "verification op 5");
          }).ends_with("in verification op 5, expected 0"));
}

TEST_CASE("rounds have every message once, in the same round at both ends, and no place twice") {
    const auto ranks = static_cast<std::size_t>(job().ranks());
    for (int places = 1; places <= job().ranks(); ++places) {
        Rig rig({"tagged"}, places);
        const TransferContext context = rig.channel.context(kMessage);
        std::vector<int> sent_in(ranks, -1);
        std::vector<int> received_in(ranks, -1);
        int number = 0;
        for (const auto& round : rounds_of(point_of("tagged"), job(), rig.channel.slots(kMessage), kSeed)) {
            CHECK(round.sends.size() == round.receives.size());
            std::set<std::size_t> sources;
            std::set<std::size_t> targets;
            for (const Rank peer : round.sends) {
                CHECK(sent_in[static_cast<std::size_t>(peer)] == -1);
                sent_in[static_cast<std::size_t>(peer)] = number;
                sources.insert(context.send_offset[peer]);
            }
            for (const Rank peer : round.receives) {
                CHECK(received_in[static_cast<std::size_t>(peer)] == -1);
                received_in[static_cast<std::size_t>(peer)] = number;
                targets.insert(context.receive_offset[peer]);
            }
            CHECK(sources.size() == round.sends.size());
            CHECK(targets.size() == round.receives.size());
            ++number;
        }
        const auto sent = job().all_gather(std::span<const int>(sent_in));
        const auto received = job().all_gather(std::span<const int>(received_in));
        for (std::size_t source = 0; source < ranks; ++source)
            for (std::size_t target = 0; target < ranks; ++target) {
                CHECK(sent[source * ranks + target] == received[target * ranks + source]);
                CHECK((sent[source * ranks + target] >= 0) == (source != target));
            }
    }
}

TEST_CASE("each rank is the nearest of one") {
    Rig rig({"tagged"}, 1);
    const auto nearest = job().all_gather(nearest_of(others(), rig.channel.context(kMessage)));
    CHECK(std::set<Rank>(nearest.begin(), nearest.end()).size() == nearest.size());
    CHECK(nearest[static_cast<std::size_t>(job().rank())] == next_rank());
}
