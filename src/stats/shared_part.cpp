// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/stats/shared_part.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "a2aperf/stats/summary.hpp"

namespace a2aperf {
namespace {

// One end of a path, by the number of the tick.
struct Tick {
    Nanoseconds end;
    std::int64_t received, idle;
};
using Ticks = std::map<std::int64_t, Tick>;

Ticks ticks_of(const Samples& samples, std::int64_t path, Rank rank, int ticks) {
    Ticks found;
    const auto ranks = static_cast<std::size_t>(samples.ranks);
    for (std::size_t row = 0; row < static_cast<std::size_t>(samples.ticks); ++row) {
        const auto of = [&](const char* column) {
            return samples.own.at(column)[row * ranks + static_cast<std::size_t>(rank)];
        };
        const std::int64_t number = of("tick_number");
        if (of("tick_path") != path || number < 0 || number >= ticks) continue;
        found[number] = {of("tick_end"), of("tick_received"), of("tick_idle")};
    }
    return found;
}

// Those that were taken when they ended: of those that end at one moment the last.
std::set<std::int64_t> in_time(const Ticks& ticks) {
    std::set<std::int64_t> numbers;
    for (auto tick = ticks.begin(); tick != ticks.end(); ++tick) {
        const auto next = std::next(tick);
        if (next == ticks.end() || next->second.end > tick->second.end) numbers.insert(tick->first);
    }
    return numbers;
}

void keep_common(std::set<std::int64_t>& all, const std::set<std::int64_t>& some) {
    std::erase_if(all, [&](std::int64_t number) { return !some.contains(number); });
}

std::vector<PathInterval> intervals_of(const Ticks& sender, const Ticks& receiver,
                                       const std::set<std::int64_t>& ends, Nanoseconds start) {
    std::vector<PathInterval> intervals;
    PathInterval now{0, 0, 0, 0};
    for (const auto& [number, tick] : receiver) {
        now.messages += tick.received;
        const auto there = sender.find(number);
        const bool is_known = there != sender.end() && there->second.idle >= 0 && now.idle >= 0;
        now.idle = is_known ? now.idle + there->second.idle : -1;
        if (!ends.contains(number)) continue;
        now.length = tick.end - now.begin;
        if (now.begin >= start) intervals.push_back(now);
        now = {tick.end, 0, 0, 0};
    }
    return intervals;
}

} // namespace

std::vector<std::vector<PathInterval>> path_intervals(const Samples& samples, const std::vector<Path>& paths,
                                                      int ticks) {
    std::vector<Ticks> senders, receivers;
    for (std::size_t path = 0; path < paths.size(); ++path) {
        senders.push_back(ticks_of(samples, static_cast<std::int64_t>(path), paths[path].from, ticks));
        receivers.push_back(ticks_of(samples, static_cast<std::int64_t>(path), paths[path].to, ticks));
    }
    std::set<std::int64_t> ends;
    for (std::int64_t number = 0; number < ticks; ++number) ends.insert(number);
    for (const auto* all : {&senders, &receivers})
        for (const Ticks& one : *all) keep_common(ends, in_time(one));
    std::vector<std::vector<PathInterval>> intervals;
    for (std::size_t path = 0; path < paths.size(); ++path)
        intervals.push_back(intervals_of(senders[path], receivers[path], ends, paths[path].start));
    return intervals;
}

std::vector<double> SharedPart::bytes(const std::vector<Path>& paths) const {
    std::vector<double> all;
    for (std::size_t path = 0; path < paths.size(); ++path)
        all.push_back(static_cast<double>(messages[path]) * static_cast<double>(paths[path].size));
    return all;
}

bool SharedPart::is_sender_bound() const {
    return std::ranges::any_of(idle, [](double share) { return !(share <= kMostIdle); });
}

SharedPart shared_part(const std::vector<std::vector<PathInterval>>& intervals, const std::vector<Path>& paths) {
    Nanoseconds last_start = 0;
    for (const Path& path : paths) last_start = std::max(last_start, path.start);
    SharedPart shared;
    double times = 0; // of all paths
    for (const std::vector<PathInterval>& of_path : intervals) {
        std::int64_t messages = 0;
        Nanoseconds time = 0, idle = 0;
        int count = 0;
        for (const PathInterval& interval : of_path) {
            if (interval.begin < last_start) continue;
            ++count;
            messages += interval.messages;
            time += interval.length;
            idle = interval.idle < 0 || idle < 0 ? -1 : idle + interval.idle;
        }
        times += static_cast<double>(time);
        shared.messages.push_back(messages);
        shared.idle.push_back(idle < 0 || time == 0 ? kAbsent
                                                    : static_cast<double>(idle) / static_cast<double>(time));
        shared.intervals = std::max(shared.intervals, count);
    }
    shared.time = std::llround(times / static_cast<double>(std::max<std::size_t>(paths.size(), 1)));
    return shared;
}

} // namespace a2aperf
