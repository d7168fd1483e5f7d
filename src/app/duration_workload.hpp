// SPDX-License-Identifier: BSD-3-Clause
// What workloads have in common whose points run for a duration, each by itself.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "a2aperf/measure/duration_loop.hpp"
#include "a2aperf/record/progress.hpp"
#include "a2aperf/record/table.hpp"
#include "workload.hpp"

namespace a2aperf {

// What a launch tells of its points as they come, in the workload's own formats. csv and json are as of every
// workload.
class DurationTable {
public:
    virtual ~DurationTable() = default;
    virtual std::string header() const = 0;
    virtual std::string row(const Row& row) = 0;
    // In every format: a point that was measured, and what is said of all of them below the table.
    virtual void add(const Point& point, const PointResult& result) = 0;
    virtual void close(Progress& progress) const = 0;
};

class DurationWorkload : public Workload {
public:
    std::string describe(const Plan& plan, const Options& options, int ranks) const override;
    int messages_at_once(int) const override { return 1; }
    double seconds_of_point(const Options& options, const Point& point, double ops, int ranks) const override;
    Bytes sample_bytes(const Options& options, int ranks) const override;
    bool is_collective() const override { return false; }
    double gbps_rank(const Point&, const Layout&, double) const override { return 0; }
    void measure(Launch& launch) const override;

protected:
    static constexpr Nanoseconds kTick = 100'000'000;
    static constexpr Nanoseconds kDay = 86'400'000'000'000; // for points that end by a number

    // At the end of the plan, with the reason where it is skipped; the messages of its verification are a shift's.
    void add(Plan& plan, Point point, const Skip& skip) const;
    static void put_in_order(Plan& plan, const Options& options);

    // For the estimate, without --time-budget.
    virtual double seconds_of(const Options& options, const Point& point) const = 0;
    virtual double seconds_of_pauses(const Options&, const Point&) const { return 0; } // beside that
    virtual std::unique_ptr<DurationTable> table(const Launch& launch) const = 0;
};

// Messages that move for a duration do so in some modes only.
void require_flow_modes(const Options& options, std::span<const std::string_view> known);

} // namespace a2aperf
