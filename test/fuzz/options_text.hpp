// SPDX-License-Identifier: BSD-3-Clause
// Options as text, so that two of them can be held against each other, and what is true of all that are accepted.
#pragma once

#include <string>

#include "a2aperf/config/options.hpp"

namespace a2aperf::fuzz {

// Every member but the command line.
std::string text_of(const Options& options);

// Ends the process where an option is outside of what its help says.
void require_sound(const Options& options);

} // namespace a2aperf::fuzz
