// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/plan/paths_plan.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "a2aperf/plan/point.hpp"

namespace a2aperf {

int PathsPlan::ticks() const {
    return static_cast<int>((duration + interval - 1) / interval);
}

std::string PathsPlan::label(const Point& point) const {
    return fmt::format("{} qos{}, {}: {}", point.mode, point.memory_words(), counted(std::ssize(paths), "path"),
                       text_of(paths));
}

FlowRoom PathsPlan::room(const Point& point) const {
    FlowRoom most;
    for (const Path& path : paths)
        if (point.mode == kMixedModes || path.mode == point.mode)
            most = {std::max({most.receives, path.window, kStreamCredits}), std::max(most.messages, path.window),
                    std::max(most.sends, path.window)};
    return most;
}

Bytes PathsPlan::bytes(const Point&) const {
    Bytes most = 0;
    for (const Path& path : paths)
        most = std::max(most, stream_stride(path.size) *
                                  static_cast<Bytes>(std::max(path.window + 1, kStreamCredits))); // a credit
    return most;
}

std::vector<VerifiedSize> PathsPlan::verified(const Point&) const {
    std::vector<VerifiedSize> sizes;
    for (const Path& path : paths) sizes.push_back({path.channel, path.size, path.mode});
    return sizes;
}

std::vector<FlowMode> PathsPlan::modes(const Point&) const {
    std::vector<FlowMode> all;
    for (const Path& path : paths) {
        const auto known = std::ranges::find(all, path.mode, &FlowMode::mode);
        if (known == all.end())
            all.push_back({path.mode, path.size});
        else
            known->size = std::max(known->size, path.size);
    }
    return all;
}

std::string PathsPlan::in_buffers(const Point&) const {
    return fmt::format("the messages and the credits of {}", counted(std::ssize(paths), "path"));
}

const PathsPlan& paths_of(const Point& point) {
    return dynamic_cast<const PathsPlan&>(*point.flow);
}

} // namespace a2aperf
