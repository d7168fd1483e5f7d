// SPDX-License-Identifier: BSD-3-Clause
// The files in shared memory by which the endpoints of a host are reached: a name that tells whose each is, and the
// end of those whose process was killed, which nobody else removes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "a2aperf/base/units.hpp"

namespace a2aperf {

// For an endpoint of this process, another one each time: "a2aperf.4026531836.4026531834.4711.88123.0". The numbers
// are the namespaces of process ids and of time, the process, when it started, and which of its names this is.
// Empty where /proc doesn't tell them.
std::string new_segment_name();

struct RemovedSegments {
    std::int64_t files = 0;
    Bytes bytes = 0; // of memory
};

// Removes this user's regular files of such a name whose process has ended for certain, and nothing else. Any
// number of processes may do so at once; each counts what it has removed itself.
RemovedSegments remove_dead_segments(const std::filesystem::path& folder = "/dev/shm");

// Removes those of this process, which leaves without closing its endpoints.
void remove_own_segments(const std::filesystem::path& folder = "/dev/shm");

} // namespace a2aperf
