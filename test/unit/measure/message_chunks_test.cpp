// SPDX-License-Identifier: BSD-3-Clause
#include "measure/message_chunks.hpp"

#include <array>
#include <vector>

#include <doctest/doctest.h>

using namespace a2aperf;

namespace {

// Rank 1 of 3, whose messages have a size each.
struct Whole {
    std::array<std::size_t, 3> send_offset{0, 64, 128}, receive_offset{200, 264, 328};
    std::array<Bytes, 3> send_size{25, 0, 30}, receive_size{10, 0, 1};
    std::array<fi_addr_t, 3> peers{70, 71, 72};
    std::array<RemoteBuffers, 3> remote{};
    std::array<std::byte, 512> buffer{};

    TransferContext context() {
        TransferContext context{};
        context.self = 1;
        context.ranks = 3;
        context.peers = peers.data();
        context.remote = remote.data();
        context.send_offset = send_offset.data();
        context.receive_offset = receive_offset.data();
        context.send_buffer = context.receive_buffer = buffer.data();
        context.send_size = send_size.data();
        context.receive_size = receive_size.data();
        context.message_size = 30;
        return context;
    }
};

Point cut() {
    Point point;
    point.message_size = 30; // the largest
    point.chunk = 10;
    return point;
}

} // namespace

TEST_CASE("all chunks but the last are full, and together they are the message") {
    for (const Bytes message : {Bytes{1}, Bytes{9}, Bytes{10}, Bytes{11}, Bytes{30}}) {
        Bytes sum = 0;
        for (int number = 0; number < 5; ++number) {
            const Bytes chunk = chunk_bytes(message, 10, number);
            CHECK((chunk == 10 || sum + chunk == message));
            sum += chunk;
        }
        CHECK(sum == message);
    }
}

TEST_CASE("chunks follow one another within their message, to and from the message's peer") {
    Whole whole;
    const MessageChunks chunks(whole.context(), cut(), false);
    const TransferContext& context = chunks.context();
    CHECK(context.chunks == 3);
    CHECK(context.ranks == 9);
    CHECK(context.self == 3);
    CHECK(chunks.to({2, 0}) == std::vector<Rank>{6, 7, 8, 0, 1, 2});
    CHECK(chunks.from({2, 0, 1}) == std::vector<Rank>{6, 0});
    const Route last = context.to(2, nullptr); // of 25 B to rank 0
    CHECK(last.address == 70);
    CHECK(last.message == whole.buffer.data() + 20);
    CHECK(context.size_to(2) == 5);
    const Route second = context.from(7, nullptr);
    CHECK(second.address == 72);
    CHECK(second.message == whole.buffer.data() + 338);
    CHECK(context.size_from(0) == 10);
    CHECK(context.size_from(6) == 1);
}

TEST_CASE("where a receive may take any chunk, each has room for a full one") {
    Whole whole;
    const MessageChunks chunks(whole.context(), cut(), true);
    for (const Rank index : chunks.from({0, 2})) CHECK(chunks.context().size_from(index) == 10);
}
