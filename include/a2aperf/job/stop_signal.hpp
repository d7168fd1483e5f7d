// SPDX-License-Identifier: BSD-3-Clause
// SIGTERM and SIGINT as values, and when SIGCONT came: the handlers only note them, the loops ask.
#pragma once

#include <functional>

#include "a2aperf/base/units.hpp"

namespace a2aperf {

class StopSignal {
public:
    // Also has SIGPIPE ignored: whoever read our words may be gone, as ^C ends a tee too, and the file must still
    // be closed.
    static void install();

    // After a library has put handlers of its own in their place. Nothing where install() was not called.
    static void reinstall();

    // The signal's number, 0 when none came.
    static int number();

    // Of a process that ends for it, as a shell has it.
    static constexpr int exit_status(int number) { return 128 + number; }

    // True when the signal came too long ago to go on waiting for agreement.
    static bool is_overdue();

    // Throws Interrupted then.
    static void throw_overdue();

    // A launcher wakes a rank that is stopped (SIGSTOP) before it tells it to end: until when it may be about to, 0
    // where nobody woke us.
    static Nanoseconds awaited_until();

    // For a rank whose peers have gone: the launcher tells who died, and to all others to stop. Waits for that, 0.3
    // s and after a stop (SIGSTOP) longer: the launcher wakes a rank before it tells it. step() is called
    // meanwhile, every millisecond. True when the signal has come.
    static bool is_coming(const std::function<void()>& step);
};

} // namespace a2aperf
