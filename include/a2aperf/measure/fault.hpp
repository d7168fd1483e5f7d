// SPDX-License-Identifier: BSD-3-Clause
// Faults put in on purpose, so that tests can see the verification catch them. They touch verification ops only.
#pragma once

#include <optional>

#include "a2aperf/base/units.hpp"

namespace a2aperf {

enum class FaultKind { flip_byte, lose_message, double_message, misdirect_message };

struct Fault {
    FaultKind kind;
    Rank rank; // the one that does it
};

// From A2APERF_FAULT: "flip:1", "lose:0", "double:2", "misdirect:1". Nothing when unset; UsageError when it is
// something else.
std::optional<Fault> requested_fault();

} // namespace a2aperf
