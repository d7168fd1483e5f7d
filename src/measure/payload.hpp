// SPDX-License-Identifier: BSD-3-Clause
// What verified messages carry: bytes that are a function of who sends what to whom.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "a2aperf/base/units.hpp"
#include "a2aperf/fabric/memory.hpp"

namespace a2aperf {

struct PayloadKey {
    std::uint64_t seed;
    Rank source;
    Rank destination;
    std::uint64_t op;
};

// message is a place in such memory. Byte i is byte i mod 8 (little-endian) of a mix of the key and i / 8. The
// functions below throw Interrupted in the middle of a message of any size when a signal to stop is overdue.
void fill_payload(const MemoryKind& memory, std::span<std::byte> message, const PayloadKey& key);

// What no message carries in all its bytes.
void blank_payload(const MemoryKind& memory, std::span<std::byte> message);

struct PayloadMismatch {
    std::size_t offset;
    std::byte expected;
    std::byte found;
};

// The first byte that differs; nothing when all are right.
std::optional<PayloadMismatch> check_payload(const MemoryKind& memory, std::span<const std::byte> message,
                                             const PayloadKey& key);

} // namespace a2aperf
