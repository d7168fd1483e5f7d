// SPDX-License-Identifier: BSD-3-Clause
// What messages call an op: by its place in its point, where the file has it, and not by its number in the launch.
#pragma once

#include <cstdint>
#include <string>

namespace a2aperf {

// Ops of a point, and of the trial of how ops can start. Only those that are timed, of either engine, are in the
// file.
enum class OpKind { trial, verification, warmup, timed, baseline };

class OpNames {
public:
    // From the launch's op number `op` on, ops are of this kind; that one is number `first`, counted from 0.
    void begin(OpKind kind, std::uint64_t op, int first);

    // "op 17" (row 17 of the point in /raw), "warm-up op 3", "verification op 0", "MPI op 17", "trial op 5". An op
    // before the last begin() is unknown.
    std::string of(std::uint64_t op) const;

private:
    OpKind kind_ = OpKind::timed;
    std::uint64_t from_ = 1;
    int first_ = 0;
};

} // namespace a2aperf
