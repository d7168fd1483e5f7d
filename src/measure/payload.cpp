// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/measure/payload.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "a2aperf/base/random.hpp"
#include "a2aperf/job/stop_signal.hpp"

namespace a2aperf {
namespace {

constexpr std::size_t kWord = sizeof(std::uint64_t);
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

} // namespace

void fill_payload(std::span<std::byte> message, const PayloadKey& key) {
    const std::uint64_t stream = stream_of(key);
    for (std::size_t at = 0; at < message.size(); at += kWord) {
        if (at % kBlock == 0) StopSignal::throw_overdue();
        const std::uint64_t word = word_at(stream, at / kWord);
        std::memcpy(message.data() + at, &word, std::min(kWord, message.size() - at));
    }
}

std::optional<PayloadMismatch> check_payload(std::span<const std::byte> message, const PayloadKey& key) {
    const std::uint64_t stream = stream_of(key);
    for (std::size_t at = 0; at < message.size(); at += kWord) {
        if (at % kBlock == 0) StopSignal::throw_overdue();
        const std::uint64_t word = word_at(stream, at / kWord);
        const std::size_t length = std::min(kWord, message.size() - at);
        if (std::memcmp(message.data() + at, &word, length) == 0) continue;
        std::array<std::byte, kWord> expected{};
        std::memcpy(expected.data(), &word, kWord);
        for (std::size_t i = 0; i < length; ++i)
            if (message[at + i] != expected[i]) return PayloadMismatch{at + i, expected[i], message[at + i]};
    }
    return std::nullopt;
}

} // namespace a2aperf
