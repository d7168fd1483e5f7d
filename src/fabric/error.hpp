// SPDX-License-Identifier: BSD-3-Clause
// libfabric's return codes as errors that say what to do.
#pragma once

#include <string_view>
#include <system_error>

namespace a2aperf {

const std::error_category& fabric_category();

// Throws std::system_error when status is negative: "fi_enable: Invalid argument (FI_UNIVERSE_SIZE …)".
void check_fabric(long status, std::string_view call, std::string_view advice = {});

} // namespace a2aperf
