// SPDX-License-Identifier: BSD-3-Clause
#include "payload.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "a2aperf/base/random.hpp"
#include "a2aperf/job/stop_signal.hpp"

namespace a2aperf {
namespace {

constexpr std::size_t kWord = sizeof(std::uint64_t);
constexpr std::size_t kPart = 4096;        // bytes that are made at once
constexpr std::size_t kBlock = 16U << 20U; // bytes between looks for a signal, some hundredths of a second

std::uint64_t stream_of(const PayloadKey& key) {
    const auto pair = static_cast<std::uint64_t>(key.source) << 32 | static_cast<std::uint32_t>(key.destination);
    return mix64(mix64(key.seed ^ mix64(pair)) ^ key.op);
}

std::uint64_t word_at(std::uint64_t stream, std::size_t index) {
    const std::uint64_t word = mix64(stream + index);
    if constexpr (std::endian::native == std::endian::little) return word;
    return __builtin_bswap64(word);
}

// Tells act(offset, bytes) of the whole payload, part by part, until it returns false.
template <class Act>
void for_each_part(const PayloadKey& key, std::size_t size, Act&& act) {
    const std::uint64_t stream = stream_of(key);
    std::array<std::byte, kPart> part;
    for (std::size_t at = 0; at < size; at += kPart) {
        if (at % kBlock == 0) StopSignal::throw_overdue();
        const std::size_t length = std::min(kPart, size - at);
        for (std::size_t i = 0; i < length; i += kWord) {
            const std::uint64_t word = word_at(stream, (at + i) / kWord);
            std::memcpy(part.data() + i, &word, kWord);
        }
        if (!act(at, std::span<const std::byte>(part).first(length))) return;
    }
}

} // namespace

void fill_payload(const MemoryKind& memory, std::span<std::byte> message, const PayloadKey& key) {
    for_each_part(key, message.size(), [&](std::size_t at, std::span<const std::byte> part) {
        memory.write(message.data() + at, part);
        return true;
    });
}

void blank_payload(const MemoryKind& memory, std::span<std::byte> message) {
    std::array<std::byte, kPart> blank{};
    blank.fill(std::byte{0xa5});
    for (std::size_t at = 0; at < message.size(); at += kPart) {
        if (at % kBlock == 0) StopSignal::throw_overdue();
        memory.write(message.data() + at, std::span(blank).first(std::min(kPart, message.size() - at)));
    }
}

std::optional<PayloadMismatch> check_payload(const MemoryKind& memory, std::span<const std::byte> message,
                                             const PayloadKey& key) {
    std::optional<PayloadMismatch> mismatch;
    std::array<std::byte, kPart> came;
    for_each_part(key, message.size(), [&](std::size_t at, std::span<const std::byte> expected) {
        // Read once: bytes that come after their message was told to be here are wrong ones.
        const auto found = std::span(came).first(expected.size());
        memory.read(message.data() + at, found);
        if (std::memcmp(found.data(), expected.data(), found.size()) == 0) return true;
        const auto [wrong, right] = std::ranges::mismatch(found, expected);
        mismatch = PayloadMismatch{at + static_cast<std::size_t>(wrong - found.begin()), *right, *wrong};
        return false;
    });
    return mismatch;
}

} // namespace a2aperf
