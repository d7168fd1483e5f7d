// SPDX-License-Identifier: BSD-3-Clause
// Texts that are known when a point has been measured, as the file has them: of a fixed length, so that writing one
// moves nothing else in the file.
#pragma once

#include <string>
#include <vector>

#include "a2aperf/record/value_type.hpp"

namespace a2aperf {

// Filled up with NULs; cut where they are longer.
std::vector<char> fixed(const std::vector<std::string>& texts);
// Without what fills them up.
std::vector<std::string> texts_of(const std::vector<char>& fixed);

} // namespace a2aperf
