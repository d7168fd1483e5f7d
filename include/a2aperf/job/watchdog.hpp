// SPDX-License-Identifier: BSD-3-Clause
// A deadline for a call that has none of its own, such as MPI_Alltoall.
#pragma once

#include <string>

#include "a2aperf/base/units.hpp"

namespace a2aperf {

// While one lives and is armed, a timer ends this process with status 1 and a message when it runs out; the
// launcher then ends the others. One at a time.
class Watchdog {
public:
    // message: what to say, e.g. "rank 3 (node017): MPI_Alltoall did not end within 60 s".
    // stopped: what to say instead where a signal to stop came meanwhile; empty = nothing.
    Watchdog(Nanoseconds timeout, const std::string& message, const std::string& stopped = "");
    ~Watchdog() { disarm(); }
    Watchdog(const Watchdog&) = delete;
    Watchdog& operator=(const Watchdog&) = delete;

    void arm() const;
    void enter() const; // the call itself begins; makes no system call unless a signal to stop is there
    void disarm() const;

    // For the handler of that signal: the call has 0.8 s more, less than a launcher's patience; then the process
    // ends with status 128 + signal. Nothing happens outside of the call.
    static void hasten(int signal_number);

private:
    Nanoseconds timeout_;
};

} // namespace a2aperf
