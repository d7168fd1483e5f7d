// SPDX-License-Identifier: BSD-3-Clause
// Kinds of memory that messages lie in. A row has all that touches their bytes: no other code does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "a2aperf/base/units.hpp"

struct fid_domain;
struct fid_mr;

namespace a2aperf {

struct NodeMemory {
    Bytes available = 0; // that new programs may take
    Bytes total = 0;
};

struct MemoryKind {
    std::string_view name;    // of --memory
    NodeMemory (*of_node)();  // throws RunError where the node does not tell
    std::string (*lacking)(); // why this node has none of the kind; empty: it has

    // At least so many bytes, of which these are zero and touched: the timed loop must not be the first to touch a
    // page, and the rank touches its own, so that it is near. Throws std::system_error.
    std::span<std::byte> (*allocate)(std::size_t bytes);
    void (*release)(std::span<std::byte> memory) noexcept;

    // Makes it known to a domain, as fi_mr_reg(3) does, which returns 0 or a negative error.
    int (*register_with)(fid_domain* domain, std::span<std::byte> memory, std::uint64_t rights, std::uint64_t key,
                         fid_mr** registration);

    void (*write)(std::byte* place, std::span<const std::byte> bytes);
    void (*read)(const std::byte* place, std::span<std::byte> bytes);
    void (*copy)(const std::byte* from, std::byte* to, std::size_t size); // within it

    // Of the CPU's own: eight bytes are there by one instruction, where a call takes as many as a message's send.
    bool is_main = false;

    // Of a kind that is known to be main memory.
    static void put_in_main(std::byte* place, std::uint64_t value) { std::memcpy(place, &value, sizeof value); }

    void put(std::byte* place, std::uint64_t value) const {
        if (is_main) [[likely]]
            put_in_main(place, value);
        else
            write(place, std::as_bytes(std::span(&value, 1)));
    }
    std::uint64_t get(const std::byte* place) const {
        std::uint64_t value = 0;
        if (is_main) [[likely]]
            std::memcpy(&value, place, sizeof value);
        else
            read(place, std::as_writable_bytes(std::span(&value, 1)));
        return value;
    }
};

std::span<const MemoryKind> memory_kinds(); // the first is the default

// Throws UsageError that names the ones there are.
const MemoryKind& find_memory(std::string_view name);

} // namespace a2aperf
