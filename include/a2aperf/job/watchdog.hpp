// SPDX-License-Identifier: BSD-3-Clause
// A deadline for a call that has none of its own and that cannot be left, such as MPI_Alltoall.
#pragma once

#include <functional>
#include <thread>

#include "a2aperf/base/units.hpp"

namespace a2aperf {

// While one lives, a thread of its own ends this process where the call goes on for too long. One at a time.
class Watchdog {
public:
    // Comes before that, in the other thread; the caller is held in the call or behind it, so all that is the
    // caller's may be used, but MPI. signal_number is 0 where the deadline has passed. Gives the exit status.
    using LeaveCall = std::function<int(int signal_number)>;

    // What other ranks wait longer than rank 0, which closes the file: a launcher that sees another leave may kill
    // it meanwhile.
    static constexpr Nanoseconds kAfterRoot = 3'000'000'000;
    // Less than launchers leave between telling a rank to stop and killing it, with time for the file.
    static constexpr Nanoseconds kAfterSignal = 500'000'000;

    // after_signal: how long the call may go on when a signal to stop has come.
    Watchdog(Nanoseconds timeout, Nanoseconds after_signal, LeaveCall leave_call);
    ~Watchdog();
    Watchdog(const Watchdog&) = delete;
    Watchdog& operator=(const Watchdog&) = delete;

    // None of these makes a system call.
    void arm() const; // the deadline counts from here
    static void enter();
    static void leave(); // does not return where the process is being ended

    // For the handler of a signal to stop.
    static void hasten(int signal_number);

private:
    Nanoseconds timeout_;
    std::thread thread_;
};

} // namespace a2aperf
