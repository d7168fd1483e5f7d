// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/record/faster_modes.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "a2aperf/base/units.hpp"

namespace a2aperf {
namespace {

double times_as_fast(const Row& row, const Row& as) {
    return summary_of(as).p50 / summary_of(row).p50;
}

bool is_faster(const Row& row, const Row& than) {
    constexpr double kLeast = 1.1;
    return summary_of(row).p50_high < summary_of(than).p50_low && times_as_fast(row, than) >= kLeast;
}

bool is_same_but_for_mode(const Point& a, const Point& b) {
    return moves_alike(a, b) && a.memory == b.memory && a.post == b.post && !a.traffic && !b.traffic;
}

// Points of both modes that have all else in common; those of `mode` first.
std::vector<std::pair<const Row*, const Row*>> cells(const Rows& rows, const std::string& mode,
                                                     const std::string& usual) {
    std::vector<std::pair<const Row*, const Row*>> found;
    for (const Row* row : rows) {
        if (row->point.mode != mode) continue;
        const auto other = std::find_if(rows.begin(), rows.end(), [&](const Row* one) {
            return one->point.mode == usual && is_same_but_for_mode(one->point, row->point);
        });
        if (other != rows.end()) found.emplace_back(row, *other);
    }
    return found;
}

} // namespace

std::vector<std::string> faster_modes(const Rows& measured) {
    std::vector<std::string> modes;
    for (const Row* row : measured)
        if (std::find(modes.begin(), modes.end(), row->point.mode) == modes.end()) modes.push_back(row->point.mode);
    std::vector<std::string> lines;
    for (std::size_t i = 1; i < modes.size(); ++i) {
        const auto both = cells(measured, modes[i], modes.front());
        std::size_t faster = 0;
        std::size_t slower = 0;
        const Row* most = nullptr;
        double times = 0;
        for (const auto& [row, usual] : both) {
            if (is_faster(*usual, *row)) ++slower;
            if (!is_faster(*row, *usual)) continue;
            ++faster;
            if (times_as_fast(*row, *usual) <= times) continue;
            times = times_as_fast(*row, *usual);
            most = row;
        }
        if (most == nullptr) continue;
        lines.push_back(fmt::format("{} was faster than {} at {} of {}, most at {}: {:.2f} times as fast{}",
                                    modes[i], modes.front(), faster,
                                    counted(static_cast<std::int64_t>(both.size()), "point"),
                                    format_bytes(most->point.message_size), times,
                                    slower > 0 ? fmt::format("; slower at {}", slower) : ""));
    }
    return lines;
}

} // namespace a2aperf
