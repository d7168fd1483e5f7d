// SPDX-License-Identifier: BSD-3-Clause
#include "faster_settings.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "a2aperf/base/units.hpp"
#include "a2aperf/plan/window.hpp"

namespace a2aperf {
namespace {

enum class Axis { mode, schedule, window, chunk, endpoints, queues, threads, polling };
constexpr std::array kAxes{Axis::mode,      Axis::schedule, Axis::window,  Axis::chunk,
                           Axis::endpoints, Axis::queues,   Axis::threads, Axis::polling};

// A window as it was asked for: one of bytes holds another number at each size. Empty where it has no say: it then
// is as any other.
std::string value_of(Axis axis, const Point& point) {
    switch (axis) {
    case Axis::mode:
        return point.mode;
    case Axis::schedule:
        return std::string(point.schedule_name());
    case Axis::window:
        return fmt::format("window {}", point.asked_window());
    case Axis::chunk:
        return point.chunk == 0 ? "whole messages" : fmt::format("chunk {}", Window{0, point.chunk}.text());
    case Axis::endpoints:
        return counted(point.channels, "endpoint");
    case Axis::queues:
        if (point.channels == 1) return {};
        return point.queues == Queues::one ? "one queue" : "a queue each";
    case Axis::threads:
        if (point.channels == 1) return {};
        return point.threads == Threads::each ? "a thread for each endpoint" : "one thread";
    case Axis::polling:
        return point.polling ? fmt::format("poll {}", point.polling->text()) : std::string();
    }
    return {};
}

// How several endpoints of a rank are looked after where that is not the usual way: what they owe to it is not
// theirs.
std::string kept_with(const Point& point) {
    if (point.channels == 1) return {};
    std::string words = point.queues == Queues::one ? " with one queue" : "";
    if (point.threads == Threads::each) words += " with a thread each";
    return words;
}

// A row with its values, in the order of kAxes.
struct Measured {
    const Row* row;
    std::array<std::string, kAxes.size()> values;
};

bool differ_alone_in(std::size_t axis, const Measured& a, const Measured& b) {
    const Point& of_a = a.row->point;
    const Point& of_b = b.row->point;
    if (of_a.message_size != of_b.message_size || of_a.memory != of_b.memory || of_a.post != of_b.post ||
        of_a.traffic_name() != of_b.traffic_name())
        return false;
    for (std::size_t i = 0; i < kAxes.size(); ++i) {
        const bool is_same = a.values[i] == b.values[i] || a.values[i].empty() || b.values[i].empty();
        if (is_same == (i == axis)) return false;
    }
    return true;
}

double times_as_fast(const Row& row, const Row& as) {
    return summary_of(as).p50 / summary_of(row).p50;
}

bool is_faster(const Row& row, const Row& than) {
    constexpr double kLeast = 1.1;
    return summary_of(row).p50_high < summary_of(than).p50_low && times_as_fast(row, than) >= kLeast;
}

// Points of both values that have all else in common; those of `value` first.
std::vector<std::pair<const Row*, const Row*>> cells(const std::vector<Measured>& all, std::size_t axis,
                                                     const std::string& value, const std::string& usual) {
    std::vector<std::pair<const Row*, const Row*>> found;
    for (const Measured& one : all) {
        if (one.values[axis] != value) continue;
        const auto other = std::ranges::find_if(all, [&](const Measured& candidate) {
            return candidate.values[axis] == usual && differ_alone_in(axis, candidate, one);
        });
        if (other != all.end()) found.emplace_back(one.row, other->row);
    }
    return found;
}

struct Compared {
    std::string value, usual; // of the axis
    std::string kept;         // as above, of several endpoints
};

std::string name_of(const std::string& value, const std::string& kept) {
    return value == counted(1, "endpoint") ? value : value + kept;
}

// Empty where it was faster nowhere.
std::string line_of(const std::vector<Measured>& all, std::size_t axis, const Compared& compared) {
    const std::string& value = compared.value;
    const std::string& usual = compared.usual;
    const auto both = cells(all, axis, value, usual);
    std::size_t faster = 0;
    std::size_t slower = 0;
    const Row* most = nullptr;
    double times = 0;
    for (const auto& [row, other] : both) {
        if (is_faster(*other, *row)) ++slower;
        if (!is_faster(*row, *other)) continue;
        ++faster;
        if (times_as_fast(*row, *other) <= times) continue;
        times = times_as_fast(*row, *other);
        most = row;
    }
    if (most == nullptr) return {};
    const char* const were = value.ends_with('s') ? "were" : "was"; // "2 endpoints", "whole messages"
    return fmt::format("{} {} faster than {} at {} of {}, most at {}{}: {:.2f} times as fast{}",
                       name_of(value, compared.kept), were, name_of(usual, compared.kept), faster,
                       counted(static_cast<std::int64_t>(both.size()), "point"),
                       format_bytes(most->point.message_size),
                       most->point.traffic ? fmt::format(" of {}", most->point.traffic_name()) : "", times,
                       slower > 0 ? fmt::format("; slower at {}", slower) : "");
}

// The first value beside each of the others.
void add_lines(std::vector<std::string>& lines, const std::vector<Measured>& all, std::size_t axis,
               const std::string& kept) {
    std::vector<std::string> values;
    for (const Measured& one : all)
        if (const std::string& value = one.values[axis];
            !value.empty() && std::ranges::find(values, value) == values.end())
            values.push_back(value);
    for (std::size_t i = 1; i < values.size(); ++i)
        if (std::string line = line_of(all, axis, {values[i], values.front(), kept}); !line.empty())
            lines.push_back(std::move(line));
}

} // namespace

std::vector<std::string> faster_settings(const Rows& measured) {
    std::vector<Measured> all;
    for (const Row* row : measured) {
        Measured& one = all.emplace_back(Measured{row, {}});
        std::ranges::transform(kAxes, one.values.begin(), [row](Axis axis) { return value_of(axis, row->point); });
    }
    std::vector<std::string> lines;
    for (std::size_t axis = 0; axis < kAxes.size(); ++axis) {
        if (kAxes[axis] != Axis::endpoints) {
            add_lines(lines, all, axis, "");
            continue;
        }
        std::vector<std::string> ways;
        for (const Measured& one : all)
            if (const std::string kept = kept_with(one.row->point);
                one.row->point.channels > 1 && std::ranges::find(ways, kept) == ways.end())
                ways.push_back(kept);
        for (const std::string& kept : ways) {
            std::vector<Measured> alike;
            std::ranges::copy_if(all, std::back_inserter(alike), [&kept](const Measured& one) {
                return one.row->point.channels == 1 || kept_with(one.row->point) == kept;
            });
            add_lines(lines, alike, axis, kept);
        }
    }
    return lines;
}

} // namespace a2aperf
