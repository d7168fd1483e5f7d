// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/measure/start_policy.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <sstream>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace a2aperf {

std::string_view to_string(Start start) {
    switch (start) {
    case Start::clock:
        return "clock";
    case Start::barrier:
        return "barrier";
    case Start::none:
        return "none";
    }
    return "?";
}

std::vector<int> cores_of_nodes(const Job& job, const Locality& here) {
    const auto texts = job.all_gather_text(fmt::format("{}", fmt::join(here.cores, " ")));
    std::vector<std::set<int>> cores(static_cast<std::size_t>(job.layout().nodes()));
    for (Rank rank = 0; rank < job.ranks(); ++rank) {
        std::istringstream words(texts[static_cast<std::size_t>(rank)]);
        for (int core = 0; words >> core;) cores[static_cast<std::size_t>(job.layout().node_of(rank))].insert(core);
    }
    std::vector<int> counts;
    for (const std::set<int>& on_node : cores) counts.push_back(static_cast<int>(on_node.size()));
    return counts;
}

bool is_oversubscribed(const Layout& layout, const std::vector<int>& cores, int threads) {
    for (std::size_t node = 0; node < cores.size(); ++node)
        if (layout.ranks_on_node()[node] * threads > cores[node]) return true;
    return false;
}

PollingChoice choose_polling(std::optional<PollingWay> wanted, bool is_oversubscribed) {
    if (wanted) return {*wanted, "asked for"};
    if (is_oversubscribed)
        return {{Polling::yield}, "oversubscribed: more polling threads than usable cores on a node"};
    return {{Polling::spin}, "a usable core for every polling thread"};
}

StartChoice choose_start(std::optional<Start> wanted, bool is_oversubscribed, double clock_error_ns, const Job& job,
                         OpLoop& loop, Engine& engine) {
    if (wanted) return {*wanted, "asked for"};
    if (is_oversubscribed)
        return {Start::barrier, "oversubscribed: more polling threads than usable cores on a node"};

    constexpr int kSettle = 10; // the slack adapts
    constexpr int kTrials = 60;
    constexpr int kAtOnce = 10;
    OwnSamples samples;
    samples.reserve(kSettle + kTrials);
    loop.set_start(Start::clock);
    loop.name(OpKind::trial);
    loop.run(engine, kSettle, samples);

    // An op is late when one rank is: the worst begin of each op decides. Where too many are, no more are tried.
    std::int64_t trials = 0, late = 0;
    Nanoseconds shortest = std::numeric_limits<Nanoseconds>::max();
    const auto too_many = [&late] { return late * 20 > kTrials; };
    while (trials < kTrials && !too_many()) {
        samples.clear();
        loop.run(engine, kAtOnce, samples);
        if (samples.size() == 0) break;
        trials += static_cast<std::int64_t>(samples.size());
        for (std::size_t i = 0; i < samples.size(); ++i) {
            const Nanoseconds time = job.max(std::max(samples.send_done[i], samples.receive_done[i]));
            shortest = std::min(shortest, time);
            late += job.max(samples.begin[i]) > late_limit(static_cast<double>(time)) ? 1 : 0;
        }
    }
    if (trials == 0) return {Start::barrier, "interrupted"};
    if (too_many()) return {Start::barrier, fmt::format("{} of {} trial starts were late", late, trials)};
    const double limit = 0.05 * static_cast<double>(shortest);
    if (clock_error_ns > limit)
        return {Start::barrier,
                fmt::format("the clock error of {:.0f} ns is more than 5 % of the shortest op ({:.0f} ns)",
                            clock_error_ns, static_cast<double>(shortest))};
    return {Start::clock,
            fmt::format("{} of {} trial starts late, clock error {:.0f} ns", late, trials, clock_error_ns)};
}

StartChoice choose_start_without_trial(std::optional<Start> wanted, bool is_oversubscribed) {
    if (wanted) return {*wanted, "asked for"};
    if (is_oversubscribed)
        return {Start::barrier, "oversubscribed: more polling threads than usable cores on a node"};
    return {Start::clock, "a usable core for every polling thread"};
}

Nanoseconds late_limit(double warmup_p50_ns) {
    return std::max(Nanoseconds{1000}, static_cast<Nanoseconds>(0.01 * warmup_p50_ns));
}

} // namespace a2aperf
