// SPDX-License-Identifier: BSD-3-Clause
#include "measure/payload.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <functional>
#include <set>
#include <thread>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include <doctest/doctest.h>

#include "a2aperf/base/error.hpp"
#include "a2aperf/job/stop_signal.hpp"

using namespace a2aperf;

namespace {

constexpr PayloadKey kKey{.seed = 42, .source = 3, .destination = 5, .op = 7};

using Message = std::vector<std::byte>;

Message message_of(std::size_t length, const PayloadKey& key) {
    Message message(length);
    fill_payload(memory_kinds().front(), message, key);
    return message;
}

// Every key that differs from kKey in one part, or has two of them exchanged.
std::vector<PayloadKey> neighbours() {
    return {{43, 3, 5, 7}, {42, 4, 5, 7}, {42, 2, 5, 7}, {42, 3, 6, 7},
            {42, 3, 4, 7}, {42, 3, 5, 8}, {42, 3, 5, 6}, {42, 5, 3, 7},
            {7, 3, 5, 42}, {42, 0, 5, 7}, {42, 3, 0, 7}, {42, 3, 5, 0},
            {0, 3, 5, 7},  {42, 3, 7, 5}, {42, 7, 5, 3}, {42, 3, 5, std::uint64_t{7} << 32}};
}

} // namespace

TEST_CASE("what was filled is right, at every length from 0 to 64 and every alignment") {
    for (std::size_t length = 0; length <= 64; ++length)
        for (std::size_t shift = 0; shift < 8; ++shift) {
            CAPTURE(length);
            CAPTURE(shift);
            alignas(8) std::array<std::byte, 80> place{};
            const auto message = std::span(place).subspan(shift, length);
            fill_payload(memory_kinds().front(), message, kKey);
            CHECK_FALSE(check_payload(memory_kinds().front(), message, kKey).has_value());
            CHECK(std::ranges::equal(message, message_of(length, kKey))); // wherever it lies
            // Not a byte beyond its ends.
            for (std::size_t at = 0; at < place.size(); ++at)
                if (at < shift || at >= shift + length) CHECK(place[at] == std::byte{0});
        }
}

TEST_CASE("a message of another length begins with the same bytes") {
    const Message longest = message_of(64, kKey);
    for (std::size_t length = 0; length < 64; ++length)
        CHECK(std::ranges::equal(message_of(length, kKey), std::span(longest).first(length)));
}

TEST_CASE("every flipped bit of every byte is found where it is") {
    for (const std::size_t length : {1UL, 7UL, 8UL, 9UL, 63UL, 64UL, 1000UL}) {
        Message message = message_of(length, kKey);
        for (std::size_t at = 0; at < length; ++at)
            for (int bit = 0; bit < 8; ++bit) {
                const std::byte right = message[at];
                message[at] ^= std::byte{1} << bit;
                const auto wrong = check_payload(memory_kinds().front(), message, kKey);
                REQUIRE(wrong.has_value());
                CHECK(wrong->offset == at);
                CHECK(wrong->expected == right);
                CHECK(wrong->found == message[at]);
                message[at] = right;
            }
        CHECK_FALSE(check_payload(memory_kinds().front(), message, kKey).has_value());
    }
}

TEST_CASE("of several wrong bytes the first is named") {
    Message message = message_of(100, kKey);
    for (const std::size_t at : {20UL, 21UL, 50UL}) message[at] ^= std::byte{0xff};
    CHECK(check_payload(memory_kinds().front(), message, kKey)->offset == 20);
}

TEST_CASE("another seed, source, destination or op makes another message") {
    // Within 8 bytes: shorter messages can be equal by chance.
    for (const std::size_t length : {8UL, 64UL}) {
        const Message message = message_of(length, kKey);
        for (const PayloadKey& other : neighbours()) {
            CAPTURE(other.seed);
            CAPTURE(other.source);
            CAPTURE(other.destination);
            CAPTURE(other.op);
            CHECK(message_of(length, other) != message);
            CHECK(check_payload(memory_kinds().front(), message, other).has_value());
        }
    }
}

TEST_CASE("no two pairs of 320 ranks exchange the same message in one op, nor does a message repeat") {
    std::set<Message> seen;
    for (Rank source = 0; source < 320; ++source)
        for (Rank destination = 0; destination < 320; destination += 7)
            seen.insert(message_of(8, {1, source, destination, 1}));
    CHECK(seen.size() == 320 * 46);
    seen.clear();
    for (std::uint64_t op = 0; op < 10'000; ++op) seen.insert(message_of(8, {1, 0, 1, op}));
    CHECK(seen.size() == 10'000);
}

TEST_CASE("a message that lies one word or one byte off is found") {
    const Message message = message_of(1016, kKey);
    for (const std::size_t shift : {1UL, 8UL, 16UL}) {
        Message moved(message.begin() + static_cast<std::ptrdiff_t>(shift), message.end());
        const auto wrong = check_payload(memory_kinds().front(), moved, kKey);
        REQUIRE(wrong.has_value());
        CHECK(wrong->offset < 8);
    }
}

TEST_CASE("all byte values come about equally often") {
    std::array<int, 256> count{};
    for (const std::byte b : message_of(256 * 1000, kKey)) ++count[static_cast<std::size_t>(b)];
    // 1000 expected, standard deviation 32: six of them
    CHECK(std::ranges::min(count) > 1000 - 190);
    CHECK(std::ranges::max(count) < 1000 + 190);
}

TEST_CASE("a stop is not kept waiting by a huge message") {
    // A signal that came stays, so this has a process of its own.
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        Message message(std::size_t{64} << 20U);
        fill_payload(memory_kinds().front(), message, kKey);
        StopSignal::install();
        raise(SIGTERM);
        while (!StopSignal::is_overdue()) std::this_thread::sleep_for(std::chrono::milliseconds(10));
        int stopped = 0;
        const MemoryKind& memory = memory_kinds().front();
        const std::function<void()> calls[] = {[&] { fill_payload(memory, message, kKey); },
                                               [&] { blank_payload(memory, message); },
                                               [&] { check_payload(memory, message, kKey); }};
        for (const auto& call : calls) try {
                call();
            } catch (const Interrupted& stop) {
                if (stop.signal_number() == SIGTERM) ++stopped;
            }
        _exit(stopped);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 3);
}

namespace {

// Memory whose bytes mean something only to its own functions, as those of a device do: each is kept inverted.
constexpr MemoryKind kInverted{
    .name = "inverted",
    .of_node = nullptr,
    .lacking = nullptr,
    .allocate = nullptr,
    .release = nullptr,
    .register_with = nullptr,
    .write =
        [](std::byte* place, std::span<const std::byte> bytes) {
            std::ranges::transform(bytes, place, [](std::byte b) { return ~b; });
        },
    .read =
        [](const std::byte* place, std::span<std::byte> bytes) {
            std::transform(place, place + bytes.size(), bytes.begin(), [](std::byte b) { return ~b; });
        },
    .copy = nullptr,
};

} // namespace

TEST_CASE("messages are filled, blanked and checked by what their memory's row says, and by nothing else") {
    const Message plain = message_of(10'001, kKey);
    Message kept(plain.size());
    fill_payload(kInverted, kept, kKey);
    for (std::size_t i = 0; i < kept.size(); ++i) REQUIRE(kept[i] == ~plain[i]);
    CHECK_FALSE(check_payload(kInverted, kept, kKey).has_value());
    for (const std::size_t at : {std::size_t{0}, std::size_t{4095}, std::size_t{4096}, kept.size() - 1}) {
        kept[at] = plain[at];
        const auto wrong = check_payload(kInverted, kept, kKey);
        REQUIRE(wrong.has_value());
        CHECK(wrong->offset == at);
        CHECK(wrong->expected == plain[at]);
        CHECK(wrong->found == ~plain[at]);
        kept[at] = ~plain[at];
    }
    blank_payload(kInverted, kept);
    CHECK(std::ranges::count(kept, ~std::byte{0xa5}) == static_cast<std::ptrdiff_t>(kept.size()));
    CHECK(check_payload(kInverted, kept, kKey).has_value());
}
