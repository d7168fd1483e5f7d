// SPDX-License-Identifier: BSD-3-Clause
// The block of an all-to-all that a rank sends to itself.
#pragma once

#include <cstddef>

#include "a2aperf/fabric/memory.hpp"

namespace a2aperf {

// MPI_Alltoall copies it, so what is measured beside MPI does, too.
struct SelfCopy {
    const MemoryKind* memory = nullptr;
    std::byte* from = nullptr;
    std::byte* to = nullptr;
    std::size_t size = 0; // 0: nothing is copied

    // Inlined, it would make every op save a register for it.
    [[gnu::noinline]] void run() const { memory->copy(from, to, size); }
};

} // namespace a2aperf
