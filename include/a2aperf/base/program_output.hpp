// SPDX-License-Identifier: BSD-3-Clause
// What another program of this machine prints.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "a2aperf/base/units.hpp"

namespace a2aperf {

// All that it writes to stdout. Nothing where there is no such program (in $PATH, or where the system has those of
// root), it fails, it has not ended in time, or it writes more: it is killed then. It gets no variables but PATH
// and LC_ALL=C, and nothing to read; what it says on stderr is dropped.
std::optional<std::string> output_of(const std::vector<std::string>& words, Nanoseconds time, Bytes most);

} // namespace a2aperf
