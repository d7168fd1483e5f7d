// SPDX-License-Identifier: BSD-3-Clause
// What workloads have in common, and which one is asked for.
#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "a2aperf/base/error.hpp"
#include "a2aperf/measure/flow.hpp"
#include "a2aperf/measure/mode_table.hpp"
#include "workload.hpp"

namespace a2aperf {

std::unique_ptr<Engine> Workload::engine(const EngineParts& parts) const {
    return find_mode(parts.point.mode).make_engine(parts);
}

std::unique_ptr<Flow> Workload::flow(const EngineParts&) const {
    return nullptr;
}

Duration Workload::duration_of(const Options&, const Point&) const {
    return {};
}

void require_format(const Options& options, std::span<const Format> known, std::string_view names) {
    if (std::ranges::find(known, options.format) == known.end())
        throw UsageError(fmt::format("--format: for {} expected one of {}", options.workload, names));
}

void require_one_memory(const Options& options) {
    if (options.memories.size() > 1)
        throw UsageError(fmt::format("--memory: {} takes one kind: {} here, and another launch for the next",
                                     options.workload, options.memories.front()));
}

void require_whole_windows(const Options& options, std::string_view whose) {
    for (const Window& window : options.windows)
        if (window.messages == 0)
            throw UsageError(fmt::format("--window: {} has a number of buffers, not {}", whose, window.text()));
}

void require_one_poll(const Options& options) {
    if (options.polls.size() > 1)
        throw UsageError(fmt::format("--poll: {} takes one way, and another launch the next", options.workload));
}

void require_poll_without_pause(const Options& options) {
    require_one_poll(options);
    const auto& way = options.polls.front();
    if (way && (way->polling == Polling::block || way->polling == Polling::throttle))
        throw UsageError(fmt::format("--poll: for {} expected one of auto, spin, yield", options.workload));
}

std::vector<const WorkloadRow*> workload_rows() {
    std::vector<const WorkloadRow*> rows;
    for (const auto workload : kWorkloads) rows.push_back(&workload().row());
    return rows;
}

const Workload& workload_of(const Options& options) {
    return (*std::ranges::find_if(kWorkloads, [&](auto one) { return one().row().name == options.workload; }))();
}

} // namespace a2aperf
