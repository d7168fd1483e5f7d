// SPDX-License-Identifier: BSD-3-Clause
// Ops one after another: agree, start together, run, keep the moments.
#pragma once

#include <cstdint>
#include <vector>

#include "a2aperf/measure/agreement.hpp"
#include "a2aperf/measure/engine.hpp"
#include "a2aperf/measure/op_names.hpp"

namespace a2aperf {

// none: ops follow one another, each rank as soon as its last one is over.
enum class Start { barrier, clock, none };

// One rank's moments of some ops, as offsets from each op's start (file-format.md, /raw). Kept between blocks, so
// that the timed loop allocates nothing.
struct OwnSamples {
    std::vector<Nanoseconds> begin, send_done, receive_done; // send_done: kNoMoment = nothing told
    std::vector<Nanoseconds> start;                          // on the common clock, absolute
    std::vector<Nanoseconds> arrival;     // [ops * R] of the message of each rank, -1 = none; empty when not traced
    std::vector<Nanoseconds> own_moments; // [ops * K], as Engine::own_moments() has them

    void reserve(std::size_t ops, std::size_t traced_ranks = 0, std::size_t moments_of_own = 0);
    void clear();
    std::size_t size() const { return start.size(); }
};

class OpLoop {
public:
    OpLoop(Job& job, const CommonClock& clock, Deadline& deadline)
        : clock_(clock), agreement_(job, clock, deadline) {}

    void set_start(Start start) { start_ = start; }
    Start start() const { return start_; }

    // Runs up to count ops and appends their moments. Returns the number done: fewer when the ranks agreed on a
    // stop signal, which stop_signal() then tells. All ranks return the same number.
    int run(Engine& engine, int count, OwnSamples& samples);

    // All ranks are here before anyone goes on; the engine's peers are kept going meanwhile.
    void settle(Engine& engine) { (void)agree(engine); }

    int stop_signal() const { return agreement_.stop_signal(); }
    std::uint64_t next_op() { return op_++; }

    // What the ops that come next are; the first of them has this number in its point.
    void name(OpKind kind, int first = 0) { names_.begin(kind, op_, first); }
    const OpNames& names() const { return names_; }

private:
    Nanoseconds agree(Engine& engine); // the scheduled start on the common clock

    const CommonClock& clock_;
    Agreement agreement_;
    Start start_ = Start::barrier;
    std::uint64_t op_ = 1;
    OpNames names_;
};

} // namespace a2aperf
