// SPDX-License-Identifier: BSD-3-Clause
#include "duration_workload.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "a2aperf/base/error.hpp"
#include "a2aperf/base/random.hpp"
#include "a2aperf/record/closing.hpp"
#include "a2aperf/record/preemption.hpp"
#include "a2aperf/stats/time_histogram.hpp"
#include "launch.hpp"

namespace a2aperf {
namespace {

constexpr double kSecondsPerPoint = 0.05;

// One table of a launch, in the format that was asked for.
class PrintedTable {
public:
    PrintedTable(const Launch& launch, std::span<const Column> columns, DurationTable& own, Progress& progress)
        : launch_(launch), own_(own),
          is_own_(launch.options().format != Format::csv && launch.options().format != Format::json),
          records_(launch.options().format, columns, launch.job().layout(), launch.prepared().provider()),
          progress_(progress) {
        if (const std::string words = launch.oversubscription(); is_own_ && !words.empty())
            print(fmt::format("# {}\n", words));
        print(is_own_ ? own_.header() : records_.header());
    }

    void row(const Row& row) { print(is_own_ ? own_.row(row) : records_.row(row)); }
    void finish() {
        if (!is_own_) print(records_.footer());
    }

private:
    void print(const std::string& lines) { launch_.show(progress_, lines); }

    const Launch& launch_;
    DurationTable& own_;
    bool is_own_;
    TableWriter records_;
    Progress& progress_;
};

} // namespace

std::string DurationWorkload::describe(const Plan& plan, const Options&, int) const {
    std::string lines;
    for (const Point& point : plan.points)
        lines +=
            fmt::format("  {}{}{}\n", point.label(), point.is_skipped() ? ", skipped: " : "", point.skip_reason);
    return lines;
}

double DurationWorkload::seconds_of_point(const Options& options, const Point& point, double, int) const {
    double seconds = seconds_of(options, point) + seconds_of_pauses(options, point);
    if (options.time_budget) seconds = std::min(seconds, static_cast<double>(*options.time_budget) * 1e-9);
    return kSecondsPerPoint + seconds;
}

// All ranks' columns along ticks and buckets, one of them as it is gathered, and what its summary sorts; and the
// rank's own, with a histogram of all buckets, of which the summary has one more.
Bytes DurationWorkload::sample_bytes(const Options& options, int ranks) const {
    const Schema declared = schema();
    const auto bytes = [&](Per per, int length) {
        const auto columns = static_cast<Bytes>(
            std::ranges::count_if(declared.samples, [per](const SampleColumn& c) { return c.per == per; }));
        return static_cast<Bytes>(length) * sizeof(std::int64_t) *
               (static_cast<Bytes>(ranks) * (columns + 3) + columns + 2);
    };
    const int buckets = most_buckets(options, ranks);
    const Bytes histograms = buckets > 0 ? 2 * TimeHistogram::kBuckets * sizeof(std::int64_t) : 0;
    return bytes(Per::tick, most_ticks(options, ranks)) + bytes(Per::bucket, buckets) + histograms;
}

void DurationWorkload::add(Plan& plan, Point point, const Skip& skip) const {
    point.own_role = row().name;
    point.schedule = &find_schedule("shift");
    point.skip_reason = skip(point).value_or("");
    if (!point.is_skipped()) plan.order.push_back(static_cast<int>(plan.points.size()));
    plan.points.push_back(std::move(point));
}

void DurationWorkload::put_in_order(Plan& plan, const Options& options) {
    if (options.order == Order::shuffled) Random(options.seed).shuffle(std::span(plan.order));
}

void DurationWorkload::measure(Launch& launch) const {
    launch.open_file();
    Progress progress = launch.make_progress();
    Preemption preemption;
    const Plan& plan = launch.plan();
    const std::unique_ptr<DurationTable> own = table(launch);
    PrintedTable printed(launch, schema().columns, *own, progress);
    launch.introduce(progress);
    for (const Point& point : plan.points)
        if (point.is_skipped()) printed.row({point, nullptr});
    std::size_t failed = 0;
    launch.measure_points(progress, [&](int index, PointOutcome&& outcome) {
        const Point& point = plan.points[static_cast<std::size_t>(index)];
        if (outcome.own.summary.count == 0) ++failed;
        printed.row({point, &outcome.own});
        own->add(point, outcome.own);
        preemption.add(point, outcome.own);
    });
    printed.finish();
    launch.finish();
    if (!launch.job().is_root()) return;
    if (const std::string words = launch.oversubscription(); !words.empty()) progress.note(words);
    const std::size_t before = launch.points_before();
    const PointCounts counts{.measured = launch.points_measured() + before - failed,
                             .before = before,
                             .skipped =
                                 static_cast<std::size_t>(std::ranges::count_if(plan.points, &Point::is_skipped)),
                             .failed = failed};
    progress.note(
        fmt::format("{}: {}", what_was_measured(counts, "nothing of it counts"), launch.file().path().string()));
    const bool yields = launch.prepared().polling.way.polling != Polling::spin;
    if (const std::string words = preemption.words(yields); !words.empty()) progress.note(words);
    own->close(progress);
}

void require_flow_modes(const Options& options, std::span<const std::string_view> known) {
    for (const std::string& mode : options.modes)
        if (std::ranges::find(known, mode) == known.end())
            throw UsageError(
                fmt::format("--mode: for {} expected one of {}", options.workload, fmt::join(known, ", ")));
}

} // namespace a2aperf
