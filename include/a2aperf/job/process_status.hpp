// SPDX-License-Identifier: BSD-3-Clause
// What the kernel tells of a process by its id, as far as /proc shows it.
#pragma once

#include <cstdint>
#include <string>

namespace a2aperf {

struct ProcessStatus {
    char state = 'X';    // one letter of proc(5); as of a process that is gone where nothing can be read
    std::string started; // clock ticks since the machine's start: tells a process from a later one with its id

    // Gone, or not yet reaped.
    bool has_ended() const { return state == 'Z' || state == 'X'; }
    // The one that started then, which may have had this id before another.
    bool has_ended(const std::string& started_then) const { return has_ended() || started != started_then; }
};

ProcessStatus process_status(std::int64_t id);

} // namespace a2aperf
