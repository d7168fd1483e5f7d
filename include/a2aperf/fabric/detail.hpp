// SPDX-License-Identifier: BSD-3-Clause
// One thing that a machine, a device or a provider says of itself.
#pragma once

#include <string>

namespace a2aperf {

// An empty value is unknown, and why_unknown may say more.
struct Detail {
    std::string name, value;
    std::string why_unknown{};
};

} // namespace a2aperf
