// SPDX-License-Identifier: BSD-3-Clause
// Which of two values of a figure is the better one, as a workload declares it and the file says it.
#pragma once

#include <string_view>

namespace a2aperf {

// Of a figure that has a better side, also ratios make sense.
enum class Better { none, higher, lower };

inline std::string_view to_string(Better better) {
    return better == Better::higher ? "higher" : better == Better::lower ? "lower" : "";
}

} // namespace a2aperf
