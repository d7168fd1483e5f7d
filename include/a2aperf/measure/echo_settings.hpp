// SPDX-License-Identifier: BSD-3-Clause
// What one rank has to do in a point of round trips.
#pragma once

#include <cstdint>
#include <vector>

#include "a2aperf/base/units.hpp"
#include "a2aperf/plan/due_times.hpp"

namespace a2aperf {

struct EchoSettings {
    std::vector<Rank> servers{}, clients{}; // whom this rank asks, and whom it answers
    int outstanding = 1;                    // requests to one server that may be under way
    Bytes request_size = 0;
    std::int64_t most = -1; // requests to each server; -1 = until the end of the duration
    bool injects_requests = false, injects_answers = false;
    Bytes ordered_write = 0; // where a flag tells of a message: it comes behind one of this size, posted after it
    std::uint64_t op = 0;    // the first of echo_ops() that differ between all flows and ops of a launch
    std::vector<DueRule> due{};   // of the requests to each of the servers, where they have a rate
    Nanoseconds longest_gap = 0;  // between two requests, of any client
    Nanoseconds service_time = 0; // of a relay, for each request: those of a client go to the server in its place
};

} // namespace a2aperf
