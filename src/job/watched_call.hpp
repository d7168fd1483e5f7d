// SPDX-License-Identifier: BSD-3-Clause
// Calls of MPI that have no form which does not block.
#pragma once

#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string>

#include <fmt/format.h>

#include "a2aperf/base/error.hpp"
#include "a2aperf/base/units.hpp"
#include "a2aperf/job/stop_signal.hpp"
#include "a2aperf/job/watchdog.hpp"

namespace a2aperf {

inline std::string this_host() {
    std::array<char, 256> name{};
    gethostname(name.data(), name.size() - 1);
    return name.data();
}

// One that does not end within the timeout ends the process, rank 0 first.
template <class Call>
int watched(Call call, const char* name, int rank, Nanoseconds timeout) {
    const Nanoseconds later = rank == 0 ? 0 : Watchdog::kAfterRoot;
    const Watchdog watchdog(timeout + later, Watchdog::kAfterSignal, [&](int signal_number) {
        if (signal_number != 0) return StopSignal::exit_status(signal_number);
        complain(fmt::format("rank {} ({}): {} did not end within {}: a rank is stopped, dead or far behind", rank,
                             this_host(), name, format_duration(timeout)));
        return EXIT_FAILURE;
    });
    Watchdog::enter();
    const int status = call();
    Watchdog::leave();
    return status;
}

} // namespace a2aperf
