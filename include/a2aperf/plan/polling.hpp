// SPDX-License-Identifier: BSD-3-Clause
// What a rank does while it waits for what comes.
#pragma once

#include <string>

namespace a2aperf {

// throttle: polls as spin does, and pauses after every so many empty polls in a row.
enum class Polling { spin, yield, block, throttle };

struct PollingWay {
    Polling polling = Polling::spin;
    unsigned throttle = 0; // empty polls before a pause, of that way alone

    bool operator==(const PollingWay&) const = default;
    std::string text() const; // as on the command line: "spin", "throttle=16"
};

} // namespace a2aperf
