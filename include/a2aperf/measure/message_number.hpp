// SPDX-License-Identifier: BSD-3-Clause
// The number that a message bears in the timed part: at its begin as it is, or as much of it as the message has
// room for, and from 16 B on at its end in another form, so that no part of another message passes for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "a2aperf/fabric/memory.hpp"

namespace a2aperf {

inline constexpr std::size_t kNumberBytes = sizeof(std::uint64_t);
inline constexpr std::uint64_t kScatter = 0x9e3779b97f4a7c15; // 2^64 over the golden ratio

// Another for each number, and in each of its bytes nearly always not what the number has there: in few
// instructions.
constexpr std::uint64_t end_form(std::uint64_t number) {
    return ~(number * kScatter);
}

// Which sixteenth of all messages the one with this number is of, in an order that no window shares: so messages of
// each buffer are of each.
constexpr std::uint64_t sixteenth_of(std::uint64_t number) {
    return number * kScatter >> 60U;
}

// Does a message bear its number at both ends, and by one instruction each?
inline bool takes_numbers_at_once(const MemoryKind& memory, std::size_t size) {
    return memory.is_main && size >= 2 * kNumberBytes;
}
inline void write_number_at_once(std::byte* message, std::size_t size, std::uint64_t number) {
    MemoryKind::put_in_main(message, number);
    MemoryKind::put_in_main(message + size - kNumberBytes, end_form(number));
}

// Of each message, so that a call would take as many instructions as it saves.
[[gnu::always_inline]] inline void write_number(const MemoryKind& memory, std::byte* message, std::size_t size,
                                                std::uint64_t number) {
    if (size < kNumberBytes) [[unlikely]]
        return memory.write(message, std::as_bytes(std::span(&number, 1)).first(size));
    memory.put(message, number);
    if (size >= 2 * kNumberBytes) memory.put(message + size - kNumberBytes, end_form(number));
}

struct FoundNumber {
    std::uint64_t begin; // the number there; of a message that is too short the rest is as it was due
    bool is_end_due;     // where the message has room for it
};

inline FoundNumber find_number(const MemoryKind& memory, const std::byte* message, std::size_t size,
                               std::uint64_t due) {
    FoundNumber found{due, true};
    if (size < kNumberBytes) [[unlikely]]
        memory.read(message, std::as_writable_bytes(std::span(&found.begin, 1)).first(size));
    else
        found.begin = memory.get(message);
    if (size >= 2 * kNumberBytes) found.is_end_due = memory.get(message + size - kNumberBytes) == end_form(due);
    return found;
}

} // namespace a2aperf
