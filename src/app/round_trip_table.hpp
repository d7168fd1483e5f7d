// SPDX-License-Identifier: BSD-3-Clause
// Points of round trips as text, as they come. table: a line each; of echo also clusterperf: a line for each
// figure, in that program's layout, names and units, below a heading for each mode and number of outstanding
// requests.
#pragma once

#include <memory>
#include <string>

#include "duration_workload.hpp"

namespace a2aperf {

struct RoundTripSetting {
    std::string ranks, nodes; // "4 ranks", "1 node"
    std::string provider;
    Bytes request_size = 0;
    int most_samples = 0;
    bool tells_memory = false; // of each row
};

std::unique_ptr<DurationTable> make_echo_table(Format format, RoundTripSetting setting);
std::unique_ptr<DurationTable> make_open_loop_table(RoundTripSetting setting);

} // namespace a2aperf
