// SPDX-License-Identifier: BSD-3-Clause
// Which program this is.
#pragma once

#include <string_view>

namespace a2aperf {

std::string_view program_version(); // "0.1.0"

// What git calls the sources, e.g. "5f2c1d0a9b3e" or "5f2c1d0a9b3e-dirty"; "unknown" outside a clone.
std::string_view program_commit();

} // namespace a2aperf
