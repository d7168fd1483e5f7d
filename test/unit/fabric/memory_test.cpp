// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/fabric/memory.hpp"

#include <algorithm>
#include <array>
#include <string>

#include <doctest/doctest.h>

#include "a2aperf/base/error.hpp"

using namespace a2aperf;

TEST_CASE("each kind: a node has it, and not more free than there is") {
    for (const MemoryKind& kind : memory_kinds()) {
        const NodeMemory memory = kind.of_node();
        CHECK(memory.total > 0);
        CHECK(memory.available > 0);
        CHECK(memory.available <= memory.total);
    }
}

TEST_CASE("a node lacks none of the first kind, and says in a line why it lacks another") {
    for (const MemoryKind& kind : memory_kinds()) CHECK(kind.lacking().find('\n') == std::string::npos);
    CHECK(memory_kinds().front().lacking().empty());
}

TEST_CASE("each kind: memory is zero at first, holds what is written, and copies it") {
    constexpr std::size_t kBytes = (std::size_t{2} << 20) + 5; // more than a huge page
    for (const MemoryKind& kind : memory_kinds()) {
        const std::string name(kind.name);
        CAPTURE(name);
        const std::span<std::byte> memory = kind.allocate(kBytes);
        REQUIRE(memory.size() >= kBytes);
        const std::array written{std::byte{1}, std::byte{2}, std::byte{3}};
        const auto holds = [&](std::size_t at, const std::array<std::byte, 3>& bytes) {
            std::array<std::byte, 3> found{std::byte{9}, std::byte{9}, std::byte{9}};
            kind.read(memory.data() + at, found);
            return found == bytes;
        };
        const std::size_t last = kBytes - written.size();
        CHECK(holds(last, {}));
        kind.write(memory.data() + 1, written);
        CHECK(holds(1, written));
        kind.copy(memory.data() + 1, memory.data() + last, written.size());
        CHECK(holds(last, written));
        kind.release(memory);
    }
}

TEST_CASE("an unknown kind is refused with the ones there are") {
    CHECK(&find_memory("huge") != &find_memory("default"));
    try {
        (void)find_memory("gpu");
        FAIL("it did not throw");
    } catch (const UsageError& error) {
        CHECK(std::string(error.what()) == "unknown kind of memory 'gpu': expected one of default, huge");
    }
}
