// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/job/process_status.hpp"

#include <fstream>
#include <sstream>

#include <fmt/format.h>

namespace a2aperf {

// proc(5): "42 (name) S …"; the name may hold anything. The 20th field after it is the time of the start.
ProcessStatus process_status(std::int64_t id) {
    constexpr int kBetween = 18;
    std::ifstream file(fmt::format("/proc/{}/stat", id));
    std::string line;
    ProcessStatus status;
    if (!std::getline(file, line) || line.rfind(')') == std::string::npos) return status;
    std::istringstream fields(line.substr(line.rfind(')') + 1));
    fields >> status.state;
    for (int i = 0; i < kBetween; ++i) fields >> status.started;
    fields >> status.started;
    return status;
}

} // namespace a2aperf
