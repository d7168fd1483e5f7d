// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/base/clock.hpp"

#include <fmt/format.h>

namespace a2aperf {

std::string format_utc(Nanoseconds since_epoch) {
    constexpr Nanoseconds kSecond = 1'000'000'000;
    // Rounded towards the past, so that moments before 1970 do not round up.
    const auto seconds = static_cast<std::time_t>(since_epoch / kSecond - (since_epoch % kSecond < 0 ? 1 : 0));
    std::tm utc{};
    gmtime_r(&seconds, &utc);
    return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday,
                       utc.tm_hour, utc.tm_min, utc.tm_sec);
}

} // namespace a2aperf
