// SPDX-License-Identifier: BSD-3-Clause
// What a rank knows of a stream of which it is one end (measure/credit_stream.hpp).
#pragma once

#include <rdma/fabric.h>

#include <cstddef>
#include <cstdint>

#include "a2aperf/base/clock.hpp"
#include "a2aperf/base/units.hpp"
#include "a2aperf/fabric/region.hpp"
#include "a2aperf/measure/free_places.hpp"
#include "a2aperf/measure/returned_credits.hpp"

namespace a2aperf {

struct OutgoingStream {
    Rank to;
    fi_addr_t address;
    FreePlaces free{}; // for messages to send
    std::int64_t sent = 0, credit = 0;
    Nanoseconds waiting_since = 0;
    int to_take_up = 0; // of the peer's receives
    // The first of its buffers here and, where words tell of messages, at the peer, and those buffers and their
    // words; which of them the next message takes, and which word has the next credit.
    int first = 0, first_there = 0, next_there = 0;
    Region::Remote buffers{}, words{};
    std::size_t next_credit = 0;
    int unasked = 0; // since the last that asked for its completion
};

struct IncomingStream {
    Rank from;
    fi_addr_t address;
    // Its buffers here and, where they are fetched, at the peer; and which of them is to be freed next, and to
    // be fetched.
    int first = 0, next = 0, next_to_fetch = 0;
    Region::Remote buffers{};
    std::int64_t received = 0, freed = 0;
    std::int64_t posted = 0; // receives that take its messages alone, or reads
    ReturnedCredits credits{};
    int to_take_up = 0; // of the peer's receives
};

} // namespace a2aperf
