// SPDX-License-Identifier: BSD-3-Clause
#include "traffic_options.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "a2aperf/base/error.hpp"
#include "a2aperf/base/text_file.hpp"
#include "a2aperf/config/values.hpp"

namespace a2aperf {

std::vector<TrafficPattern> read_traffic(std::span<const std::string> values) {
    constexpr Bytes kMostBytes = 64U << 20U;
    std::vector<TrafficPattern> patterns;
    for (const std::string& item : split_list(values)) {
        const bool is_file = TrafficPattern::is_file(item);
        TrafficPattern pattern =
            is_file ? TrafficPattern::parse_file(item, read_text_file("a matrix", item, kMostBytes))
                    : TrafficPattern::parse(item);
        const bool is_there = std::any_of(patterns.begin(), patterns.end(), [&](const TrafficPattern& other) {
            return other.name() == pattern.name();
        });
        if (is_there && is_file)
            throw UsageError(
                fmt::format("two files are called {}: give them different names", quote(pattern.name())));
        if (!is_there) patterns.push_back(std::move(pattern));
    }
    if (std::ssize(patterns) > kMostTrafficMatrices)
        throw UsageError(fmt::format("{} are more than the {} that a launch has room for", patterns.size(),
                                     kMostTrafficMatrices));
    return patterns;
}

void check_redraw(std::span<const TrafficPattern> patterns, bool redraws) {
    for (const TrafficPattern& pattern : patterns)
        if (pattern.moves() && !redraws)
            throw UsageError(
                fmt::format("--traffic {}: the hot rank moves on with each op, and traffic is drawn once a "
                            "launch: give --redraw op, or hot-rank for one that stays",
                            quote(pattern.name())));
    if (redraws && std::ranges::none_of(patterns, &TrafficPattern::is_drawn)) {
        std::vector<std::string_view> drawn;
        for (const TrafficGenerator& generator : traffic_generators())
            if (generator.is_drawn) drawn.push_back(generator.name);
        throw UsageError(
            fmt::format("--redraw op: nothing of --traffic is drawn, and every op would be the same: give one "
                        "of {}",
                        fmt::join(drawn, ", ")));
    }
}

} // namespace a2aperf
