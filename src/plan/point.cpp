// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/plan/point.hpp"

#include <fmt/format.h>

namespace a2aperf {

std::string_view to_string(Role role) {
    switch (role) {
    case Role::measure:
        return "measure";
    case Role::baseline:
        return "baseline";
    case Role::sentinel:
        return "sentinel";
    }
    return "";
}

std::string_view to_string(Post post) {
    return post == Post::before ? "before" : "inside";
}

std::string Point::label() const {
    const std::string cell = fmt::format("{} {}", mode, schedule_name());
    if (is_baseline()) return fmt::format("{} {} B", cell, message_size);
    const std::string width = window == 0 ? "all" : fmt::format("{}", window);
    return fmt::format("{} window {} {} B{}", cell, width, message_size,
                       role == Role::sentinel ? " (sentinel)" : "");
}

} // namespace a2aperf
