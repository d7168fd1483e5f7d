// SPDX-License-Identifier: BSD-3-Clause
// For how long a rank did what, from the program's start until its results file can be made.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "a2aperf/base/clock.hpp"

namespace a2aperf {

// In their order; a rank may come back to one.
enum class StartPhase : std::uint8_t {
    before_mpi,
    mpi_init,
    ranks,
    provider,
    plan,
    counters,
    endpoint,
    memory,
    addresses,
    clock,
    connect,
    payload,
    start_of_ops,
    facts,
};

struct StartPhaseRow {
    std::string_view name, meaning;
    bool waits; // for other ranks, so that the slowest of them takes everybody's time
};

inline constexpr std::array<StartPhaseRow, 14> kStartPhases{{
    {"before_mpi", "looking at the results file and at what dead ranks left", false},
    {"mpi_init", "MPI_Init", true},
    {"ranks", "numbering the ranks and comparing their arguments", true},
    {"provider", "choosing provider and adapter", true},
    {"plan", "planning the points and gathering the ranks' variables", true},
    {"counters", "finding the adapters' counters", true},
    {"endpoint", "opening domain, endpoint and completion queue", false},
    {"memory", "allocating and registering the message buffers", false},
    {"addresses", "exchanging addresses and keys", true},
    {"clock", "agreeing on one clock", true},
    {"connect", "connecting the ranks by first messages", true},
    {"payload", "filling and comparing the bytes of the first messages", false},
    {"start_of_ops", "trying how ops start", true},
    {"facts", "gathering facts of nodes and ranks", true},
}};

class StartTimes {
public:
    using Times = std::array<Nanoseconds, kStartPhases.size()>;

    explicit StartTimes(Nanoseconds begin = now_ns()) : begin_(begin), last_(begin) {}

    // What passed since the last end was this phase's.
    void end(StartPhase phase, Nanoseconds now = now_ns()) {
        of(phase) += now - last_;
        last_ = now;
    }
    // A part of one phase was another's.
    void move(Nanoseconds part, StartPhase from, StartPhase to) {
        of(from) -= part;
        of(to) += part;
    }
    // What somebody else has timed since the last end.
    void add(const StartTimes& other) {
        for (std::size_t i = 0; i < times_.size(); ++i) times_[i] += other.times_[i];
        last_ = other.last_;
    }

    Nanoseconds begin() const { return begin_; }
    const Times& times() const { return times_; } // by StartPhase

private:
    Nanoseconds& of(StartPhase phase) { return times_[static_cast<std::size_t>(phase)]; }

    Nanoseconds begin_, last_;
    Times times_{};
};

} // namespace a2aperf
