// SPDX-License-Identifier: BSD-3-Clause
// The timed op over a real provider, with this process as its own and only peer.
#include "a2aperf/measure/exchange.hpp"

#include <array>
#include <cstring>

#include <doctest/doctest.h>

#include "a2aperf/base/error.hpp"
#include "a2aperf/fabric/nic.hpp"
#include "a2aperf/fabric/provider.hpp"
#include "a2aperf/transfer/modes.hpp"

using namespace a2aperf;

namespace {

constexpr std::size_t kMessage = 6000;
constexpr Nanoseconds kTimeout = 600'000'000'000;

// One rank, alone: what measure's Channel is for a job.
struct Alone {
    static Offer first_offer(std::uint64_t capabilities) {
        auto all = offers("tcp", capabilities);
        REQUIRE_FALSE(all.empty());
        const auto choice = choose_nic(all, {.text = "nearest"});
        return std::move(all[choice.index]);
    }

    template <TransferMode Mode>
    explicit Alone(Mode)
        : domain(first_offer(Mode::kCapabilities)),
          send(domain, 2 * kMessage, memory_kinds().front(), Mode::kRights.source, 1),
          receive(domain, 2 * kMessage, memory_kinds().front(), Mode::kRights.target, 2),
          flags(domain, sizeof(std::uint64_t), memory_kinds().front(),
                Mode::kArrival == Arrival::flag ? FI_REMOTE_WRITE : 0, 3),
          endpoint(domain, 64, Wait::none) {
        const std::array<std::string, 1> addresses{endpoint.address()};
        endpoint.insert_peers(addresses);
        remote = {send.remote(), receive.remote(), flags.remote()};
    }

    TransferContext context() const {
        return {.endpoint = endpoint.get(),
                .self = 0,
                .ranks = 1,
                .peers = endpoint.peers().data(),
                .send_offset = &offset,
                .receive_offset = &offset,
                .send_buffer = send.data(),
                .receive_buffer = receive.data(),
                .send_descriptor = send.descriptor(),
                .receive_descriptor = receive.descriptor(),
                .remote = &remote,
                .message_size = kMessage,
                .flags = reinterpret_cast<std::uint64_t*>(flags.data())};
    }

    Domain domain;
    Region send, receive, flags;
    Endpoint endpoint;
    RemoteBuffers remote;
    std::size_t offset = 0;
};

template <class Mode>
void check_ops() {
    const Alone alone(Mode{});
    Deadline deadline(Polling::yield, kTimeout);
    Exchange<Mode> exchange(alone.context(), alone.endpoint, {0}, {0},
                            {.posts_receives = Mode::kArrival != Arrival::data}, deadline);
    for (std::uint64_t op = 1; op <= 50; ++op) {
        std::memset(alone.send.data(), static_cast<int>(op), kMessage);
        exchange.begin(op);
        exchange.post_all_receives();
        const Nanoseconds begin = now_ns();
        const Moments moments = exchange.run();
        if (Mode::kInitiator == Initiator::sender)
            CHECK(moments.send_done >= begin);
        else
            CHECK(moments.send_done == kNoMoment);
        CHECK(moments.receive_done >= begin);
        CHECK(exchange.arrivals()[0] == 1);
        REQUIRE(std::memcmp(alone.receive.data(), alone.send.data(), kMessage) == 0);
    }
}

} // namespace

TEST_CASE("ops of every mode move their bytes and count their arrivals") {
    for_each_mode([]<class Mode>(Mode) { check_ops<Mode>(); });
}

TEST_CASE("a read is no part of what is posted before the op, and fetches what is there when the op runs") {
    const Alone alone(Read{});
    Deadline deadline(Polling::yield, kTimeout);
    Exchange<Read> exchange(alone.context(), alone.endpoint, {0}, {0}, {}, deadline);
    std::memset(alone.send.data(), 1, kMessage);
    exchange.begin(1);
    exchange.post_all_receives();
    for (int i = 0; i < 1000; ++i) CHECK_FALSE(exchange.progress());
    CHECK(exchange.arrivals()[0] == 0);
    std::memset(alone.send.data(), 2, kMessage);
    exchange.run();
    CHECK(exchange.arrivals()[0] == 1);
    CHECK(alone.receive.data()[0] == std::byte{2});
}

TEST_CASE("reads outstanding are at most the window, and each fetches from its own place") {
    const Alone alone(Read{});
    Deadline deadline(Polling::yield, kTimeout);
    TransferContext context = alone.context();
    context.message_size = kMessage / 8;
    constexpr int kPeers = 8; // all of them are ourselves
    context.ranks = kPeers;
    std::array<std::size_t, kPeers> offset{};
    std::array<fi_addr_t, kPeers> peers{};
    std::array<RemoteBuffers, kPeers> remote{};
    std::vector<Rank> sources;
    for (std::size_t peer = 0; peer < kPeers; ++peer) {
        offset[peer] = peer * context.message_size;
        peers[peer] = alone.endpoint.peers()[0];
        remote[peer] = alone.remote;
        sources.push_back(static_cast<Rank>(peer));
        std::memset(alone.send.data() + offset[peer], static_cast<int>(peer) + 1, context.message_size);
    }
    context.peers = peers.data();
    context.remote = remote.data();
    context.send_offset = context.receive_offset = offset.data();
    for (const int window : {1, 3, kPeers, 0}) {
        std::memset(alone.receive.data(), 0, kMessage);
        Exchange<Read> exchange(context, alone.endpoint, sources, sources, {.window = window, .traces = true},
                                deadline);
        exchange.begin(1);
        const Nanoseconds begin = now_ns();
        exchange.run();
        CHECK(exchange.arrivals() == std::vector<std::uint32_t>(kPeers, 1));
        CHECK(std::memcmp(alone.receive.data(), alone.send.data(), kMessage) == 0);
        // One at a time, they arrive in their order.
        const auto arrived = exchange.arrival_times();
        for (std::size_t peer = 0; peer < kPeers; ++peer) CHECK(arrived[peer] >= begin);
        if (window == 1) CHECK(std::is_sorted(arrived.begin(), arrived.end()));
    }
}

TEST_CASE("a message that never comes ends the op by its deadline, and says whose it is") {
    const Alone alone(Tagged{});
    Deadline deadline(Polling::yield, 50'000'000);
    Exchange<Tagged> exchange(alone.context(), alone.endpoint, {}, {0}, {}, deadline);
    exchange.begin(1);
    exchange.post_all_receives();
    try {
        exchange.run();
        FAIL("it did not throw");
    } catch (const RunError& error) {
        const std::string text = error.what();
        CHECK(text.find("op 1") != std::string::npos);
        CHECK(text.find("messages from rank 0") != std::string::npos);
    }
}

TEST_CASE("a message of another op is not taken for one of this") {
    const Alone alone(Tagged{});
    Deadline deadline(Polling::yield, 50'000'000);
    Exchange<Tagged> sender(alone.context(), alone.endpoint, {0}, {}, {}, deadline);
    Exchange<Tagged> receiver(alone.context(), alone.endpoint, {}, {0}, {}, deadline);
    receiver.begin(2);
    receiver.post_all_receives();
    sender.begin(1);
    sender.run(); // small enough to leave at once, and unexpected over there
    try {
        receiver.run();
        FAIL("it did not throw");
    } catch (const RunError& error) {
        CHECK(std::string(error.what()).find("messages from rank 0") != std::string::npos);
    }
    CHECK(receiver.arrivals()[0] == 0);
}

TEST_CASE("a message without a tag that names another op or no rank ends the op") {
    const Alone alone(Msg{});
    Deadline deadline(Polling::yield, kTimeout);
    TransferContext context = alone.context();
    context.message_size = 8; // injected, it completes at its target only
    for (const std::uint64_t label : {message_data(1, 0), message_data(2, 1)}) {
        Exchange<Msg> receiver(context, alone.endpoint, {}, {0}, {}, deadline);
        receiver.begin(2);
        receiver.post_all_receives();
        while (Msg::inject(context, context.to(0, nullptr), label) == -FI_EAGAIN) receiver.progress();
        CHECK_THROWS_WITH_AS(receiver.run(),
                             "op 2: a completion that belongs to no operation, or a message of another op or rank",
                             RunError);
        CHECK(receiver.arrivals()[0] == 0);
    }
}

TEST_CASE("whichever receive takes a message, it is known whose it is and where") {
    const Alone alone(Msg{});
    Deadline deadline(Polling::yield, kTimeout);
    TransferContext context = alone.context();
    context.message_size = 8;
    context.ranks = 2; // the other one's messages are ours in its name
    const std::array<std::size_t, 2> offset{0, kMessage};
    const std::array<fi_addr_t, 2> peers{alone.endpoint.peers()[0], alone.endpoint.peers()[0]};
    const std::array<RemoteBuffers, 2> remote{alone.remote, alone.remote};
    context.peers = peers.data();
    context.remote = remote.data();
    context.send_offset = context.receive_offset = offset.data();
    Exchange<Msg> receiver(context, alone.endpoint, {}, {0, 1}, {.traces = true}, deadline);
    receiver.begin(1);
    receiver.post_all_receives();
    for (const Rank source : {1, 0}) { // the first receive takes the first message
        std::memset(alone.send.data(), source + 1, context.message_size);
        const auto send = [&] { return Msg::inject(context, context.to(0, nullptr), message_data(1, source)); };
        while (send() == -FI_EAGAIN) receiver.progress();
    }
    receiver.run();
    CHECK(receiver.arrivals() == std::vector<std::uint32_t>{1, 1});
    CHECK(receiver.place_of(1) == alone.receive.data());
    CHECK(receiver.place_of(0) == alone.receive.data() + kMessage);
    CHECK(*receiver.place_of(1) == std::byte{2});
    CHECK(*receiver.place_of(0) == std::byte{1});
}

TEST_CASE("a message that comes twice ends the op, and is not taken for another one") {
    const Alone alone(WriteImm{});
    Deadline deadline(Polling::yield, kTimeout);
    Exchange<WriteImm> exchange(alone.context(), alone.endpoint, {0, 0}, {0}, {.posts_receives = false}, deadline);
    exchange.begin(1);
    const auto run_and_look_on = [&] {
        exchange.run();
        while (exchange.progress() || deadline.idle()) {
        }
    };
    CHECK_THROWS_WITH_AS(
        run_and_look_on(),
        "op 1: the message from rank 0 completed twice: sent twice, to the wrong rank, or in another "
        "op",
        RunError);
}

TEST_CASE("a message without its flag has not arrived, and a flag of another op tells nothing of it") {
    const Alone alone(Write{});
    Deadline deadline(Polling::yield, kTimeout);
    const TransferContext context = alone.context();
    TransferContext small = context;
    small.message_size = 8;
    Exchange<Write> receiver(context, alone.endpoint, {}, {0}, {}, deadline);
    receiver.begin(2);
    const auto post = [&](auto call) {
        while (call() == -FI_EAGAIN) receiver.progress();
        for (int i = 0; i < 1000; ++i) receiver.progress();
    };
    std::memset(alone.send.data(), 7, kMessage);
    post([&] { return Write::inject(small, context.to(0, nullptr), 2); });
    CHECK(alone.receive.data()[7] == std::byte{7});
    CHECK(receiver.arrivals()[0] == 0);
    for (const std::uint64_t other : {1, 3, 2 + 256})
        post([&] { return Write::tell(context, context.to(0, nullptr), other); });
    CHECK(receiver.arrivals()[0] == 0);
    post([&] { return Write::tell(context, context.to(0, nullptr), 2); });
    receiver.run();
    CHECK(receiver.arrivals()[0] == 1);
}

TEST_CASE("the message is there when its flag is seen, whatever the flag is posted behind") {
    const Alone alone(Write{});
    Deadline deadline(Polling::yield, kTimeout);
    std::uint64_t op = 0;
    for (const FlagBehind behind : {FlagBehind::post, FlagBehind::delivery})
        for (const int window : {1, 2, 0}) {
            int seen = 0;
            const auto look = [&](Rank source) {
                CHECK(source == 0);
                CHECK(std::memcmp(alone.receive.data(), alone.send.data(), kMessage) == 0);
                ++seen;
            };
            Exchange<Write> exchange(alone.context(), alone.endpoint, {0, 0, 0}, {0},
                                     {.window = window, .traces = true, .flag_behind = behind, .on_flag = look},
                                     deadline);
            for (int i = 0; i < 10; ++i) {
                std::memset(alone.send.data(), static_cast<int>(++op), kMessage);
                exchange.begin(op);
                const Nanoseconds begin = now_ns();
                const Moments moments = exchange.run();
                CHECK(moments.send_done >= begin);
                CHECK(moments.receive_done >= begin);
                CHECK(exchange.arrival_times()[0] >= begin);
                CHECK(seen == i + 1);
            }
        }
}

TEST_CASE("a flag that never comes ends the op by its deadline, and says whose it is") {
    const Alone alone(Write{});
    Deadline deadline(Polling::yield, 50'000'000);
    Exchange<Write> exchange(alone.context(), alone.endpoint, {}, {0}, {}, deadline);
    exchange.begin(1);
    try {
        exchange.run();
        FAIL("it did not throw");
    } catch (const RunError& error) {
        CHECK(std::string(error.what()).find("it waits for messages from rank 0") != std::string::npos);
    }
}

TEST_CASE("without a common start a message of the next op waits for it; with one it is nobody's") {
    const Alone alone(WriteImm{});
    Deadline deadline(Polling::yield, kTimeout);
    TransferContext context = alone.context();
    context.message_size = 8; // is injected, so that its arrival alone completes
    for (const bool follows_on : {true, false}) {
        Exchange<WriteImm> exchange(context, alone.endpoint, {0}, {0},
                                    {.posts_receives = false, .follows_on = follows_on}, deadline);
        exchange.begin(1);
        ssize_t status = 0;
        while ((status = WriteImm::inject(context, context.to(0, nullptr), WriteImm::label(context, 2))) ==
               -FI_EAGAIN)
            (void)exchange.progress();
        REQUIRE(status == 0);
        const auto read = [&] {
            while (!exchange.progress() && deadline.idle()) {
            }
        };
        if (!follows_on) {
            CHECK_THROWS_AS(read(), RunError);
            continue;
        }
        read();
        CHECK_FALSE(exchange.has_arrived(0));
        exchange.run();
        CHECK(exchange.arrivals()[0] == 1);
        exchange.begin(2);
        CHECK(exchange.has_arrived(0));
        exchange.begin(3);
        CHECK_FALSE(exchange.has_arrived(0));
    }
}
