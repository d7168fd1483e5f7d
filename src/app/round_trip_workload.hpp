// SPDX-License-Identifier: BSD-3-Clause
// What workloads of round trips have in common.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "duration_workload.hpp"
#include "round_trip_options.hpp"
#include "round_trip_table.hpp"

namespace a2aperf {

class RoundTripWorkload : public DurationWorkload {
public:
    std::string_view demands() const override { return "a round trip needs"; }
    std::string own_room(const Plan& plan, const Options& options, const Layout& layout) const override;
    std::unique_ptr<Flow> flow(const EngineParts& parts) const override;
    int most_ticks(const Options& options, int ranks) const override;
    int most_buckets(const Options& options, int ranks) const override;

protected:
    // A point of each mode, kind of memory, number of requests under way and size, as `each` adds it.
    template <class Each>
    static Plan plan_of(const Options& options, Each each) {
        Plan plan;
        for (const std::string& mode : options.modes)
            for (const std::string& memory : options.memories)
                for (const int outstanding : round_trip_options(options).outstanding)
                    for (const Bytes size : options.sizes) {
                        Point point;
                        point.mode = mode;
                        point.memory = memory;
                        point.message_size = size;
                        each(plan, std::move(point), outstanding);
                    }
        put_in_order(plan, options);
        return plan;
    }

    static Schema schema_of(const WorkloadRow& row, std::string_view subject, std::span<const Column> columns,
                            std::span<const SampleColumn> samples);
    static RoundTripSetting setting_of(const Launch& launch);

    // Of one client in a point.
    virtual std::int64_t most_trips(const Options& options, int ranks) const = 0;
    // Their histogram's buckets, where there may be any number of them.
    virtual std::int64_t most_buckets_in(Nanoseconds length, const Options& options, int ranks) const = 0;
};

} // namespace a2aperf
