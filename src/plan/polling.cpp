// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/plan/polling.hpp"

#include <fmt/format.h>

namespace a2aperf {

std::string PollingWay::text() const {
    switch (polling) {
    case Polling::spin:
        return "spin";
    case Polling::yield:
        return "yield";
    case Polling::block:
        return "block";
    case Polling::throttle:
        return fmt::format("throttle={}", throttle);
    }
    return "?";
}

} // namespace a2aperf
