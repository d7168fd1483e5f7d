// SPDX-License-Identifier: BSD-3-Clause

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "a2aperf/base/error.hpp"
#include "measure/forwarding_engine.hpp"
#include "measure/verifier.hpp"
#include "test/mpi/rig.hpp"

using namespace a2aperf;
using test::job;
using test::Rig;

namespace {

constexpr std::uint64_t kSeed = 7;
constexpr Bytes kSize = 200;

// As if the ranks of this machine were on several: two, three, unequal ones, and dealt out. Those in which there is
// nothing to forward are left out.
std::vector<Layout> layouts() {
    const int ranks = job().ranks();
    std::vector<Layout> all;
    const auto add = [&](auto node_of) {
        std::vector<int> nodes;
        for (Rank rank = 0; rank < ranks; ++rank) nodes.push_back(node_of(rank));
        const Layout layout(nodes);
        if (!Forwarding::refusal(layout)) all.push_back(layout);
    };
    add([](Rank rank) { return rank == 0 ? 0 : 1; });
    add([&](Rank rank) { return rank == ranks - 1 ? 1 : 0; });
    add([](Rank rank) { return rank % 2; });
    add([](Rank rank) { return rank / 2; });
    add([](Rank rank) { return rank / 3; });
    return all;
}

Point point_on(const Layout& layout) {
    Point point = test::point_of("tagged", kSize);
    point.schedule = &find_schedule("node-aware");
    point.forwarding = std::make_shared<Forwarding>(layout, kSize);
    return point;
}

std::string failure(const EngineParts& parts) {
    try {
        verify_channels(parts);
    } catch (const RunError& error) {
        return error.what();
    }
    return {};
}

// Whether each peer's message of an op is here.
bool is_all_here(Rig& rig, const TransferContext& context, std::uint64_t op) {
    for (Rank peer = 0; peer < job().ranks(); ++peer) {
        if (peer == job().rank()) continue;
        const auto here = message_at(context.receive_buffer, context.receive_offset, peer, kSize);
        if (check_payload(rig.channel.memory(), here, received_key(context, peer, op, kSeed))) return false;
    }
    return true;
}

} // namespace

TEST_CASE("what goes by way of leaders is verified, and is there after every op") {
    Rig rig({"tagged"}, 4 * job().ranks());
    for (const Layout& layout : layouts()) {
        CAPTURE(layout.nodes());
        for (const int window : {0, 1}) {
            for (const Post post : {Post::before, Post::inside}) {
                Point point = point_on(layout);
                point.window = window;
                point.post = post;
                CHECK(failure(rig.parts(point, kSeed)) == "");
                EngineParts parts = rig.parts(point, kSeed);
                parts.traces = true;
                const auto engine = find_mode("tagged").make_engine(parts);
                const TransferContext context = rig.channel.context(kSize);
                for (std::uint64_t op = 0; op < 3; ++op) {
                    for (Rank peer = 0; peer < job().ranks(); ++peer)
                        if (peer != job().rank())
                            fill_payload(rig.channel.memory(),
                                         message_at(context.send_buffer, context.send_offset, peer, kSize),
                                         sent_key(context, peer, op, kSeed));
                    OwnSamples samples;
                    REQUIRE(rig.loop.run(*engine, 1, samples) == 1);
                    CHECK(is_all_here(rig, context, op));
                    CHECK(samples.send_done.front() <= samples.receive_done.front());
                    for (Rank peer = 0; peer < job().ranks(); ++peer) {
                        const Nanoseconds arrived = samples.arrival[static_cast<std::size_t>(peer)];
                        CHECK((arrived < 0) == (peer == job().rank()));
                        CHECK(arrived <= samples.receive_done.front());
                    }
                }
            }
        }
    }
}

TEST_CASE("wrong bytes are found at the end of their way, and their source is named") {
    Rig rig({"tagged"}, 4 * job().ranks());
    const Rank liar = job().ranks() - 1;
    for (const Layout& layout : layouts()) {
        const Point point = point_on(layout);
        const std::string words = failure(rig.parts(point, job().rank() == liar ? kSeed + 1 : kSeed));
        CHECK(words.starts_with("verification of " + point.label() + " failed: byte "));
        const std::string sender = job().rank() == liar ? "" : job().who(liar);
        CHECK(words.find("of the message from " + sender) != std::string::npos);
        CHECK(words.find("(verification op 0)") != std::string::npos);
    }
}
