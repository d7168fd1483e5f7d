// SPDX-License-Identifier: BSD-3-Clause
// SIGTERM and SIGINT as values: the handler only notes them, the loops ask.
#pragma once

#include "a2aperf/base/units.hpp"

namespace a2aperf {

class StopSignal {
public:
    static void install();

    // The signal's number, 0 when none came.
    static int number();

    // True when the signal came too long ago to go on waiting for agreement.
    static bool is_overdue();

    // Throws Interrupted then.
    static void throw_overdue();
};

} // namespace a2aperf
