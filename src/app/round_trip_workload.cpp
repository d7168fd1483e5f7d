// SPDX-License-Identifier: BSD-3-Clause
#include "round_trip_workload.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "a2aperf/measure/echo_engine.hpp"
#include "launch.hpp"
#include "round_trip_columns.hpp"

namespace a2aperf {

std::string RoundTripWorkload::own_room(const Plan& plan, const Options& options, const Layout& layout) const {
    const int ranks = layout.ranks();
    const auto along = [&](Per per) {
        return static_cast<Bytes>(std::ranges::count(schema().samples, per, &SampleColumn::per));
    };
    const Bytes each = along(Per::tick) * static_cast<Bytes>(most_ticks(options, ranks)) +
                       along(Per::bucket) * static_cast<Bytes>(most_buckets(options, ranks));
    const Bytes samples = sizeof(Nanoseconds) * each * static_cast<Bytes>(ranks) * plan.points.size();
    return fmt::format("samples: up to {} of the results file, and {} of rank 0's memory\n", format_bytes(samples),
                       format_bytes(DurationWorkload::sample_bytes(options, ranks)));
}

std::unique_ptr<Flow> RoundTripWorkload::flow(const EngineParts& parts) const {
    return make_echo(parts);
}

Schema RoundTripWorkload::schema_of(const WorkloadRow& row, std::string_view subject,
                                    std::span<const Column> columns, std::span<const SampleColumn> samples) {
    return {.workload = row.name,
            .subject = subject,
            .columns = columns,
            .samples = samples,
            .replicate = Replicate::launch,
            .summarise = [](const Samples& of, const Layout&, Bytes, const SummaryRules& rules) {
                return summarise_trips(of, rules);
            }};
}

RoundTripSetting RoundTripWorkload::setting_of(const Launch& launch) {
    const RoundTripOptions& asked = round_trip_options(launch.options());
    return {.ranks = counted(launch.job().layout().ranks(), "rank"),
            .nodes = counted(launch.job().layout().nodes(), "node"),
            .provider = launch.prepared().provider(),
            .request_size = asked.request_size,
            .most_samples = asked.most_samples,
            .tells_memory = launch.options().memories.size() > 1};
}

int RoundTripWorkload::most_ticks(const Options& options, int ranks) const {
    return static_cast<int>(
        std::min<std::int64_t>(most_trips(options, ranks), round_trip_options(options).most_samples));
}

int RoundTripWorkload::most_buckets(const Options& options, int ranks) const {
    Nanoseconds length = duration_of(options, Point()).length;
    if (options.time_budget) length = std::min(length, *options.time_budget);
    return static_cast<int>(std::min(most_trips(options, ranks), most_buckets_in(length, options, ranks)));
}

} // namespace a2aperf
