// SPDX-License-Identifier: BSD-3-Clause
// The all-to-all: every rank sends one message to every other, all at once.
#include <algorithm>
#include <cstdio>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "a2aperf/base/error.hpp"
#include "a2aperf/base/terminal.hpp"
#include "a2aperf/config/selection.hpp"
#include "a2aperf/config/values.hpp"
#include "a2aperf/fabric/nic.hpp"
#include "a2aperf/plan/size_list.hpp"
#include "a2aperf/record/closing.hpp"
#include "a2aperf/record/recorder.hpp"
#include "a2aperf/record/table.hpp"
#include "alltoall_options.hpp"
#include "estimate.hpp"
#include "known_faster.hpp"
#include "launch.hpp"
#include "pipeline.hpp"
#include "search.hpp"
#include "search_plan.hpp"
#include "traffic_group.hpp"
#include "traffic_options.hpp"
#include "usual_settings.hpp"
#include "workload.hpp"

namespace a2aperf {
namespace {

constexpr std::string_view kIntroduction =
    "a2aperf measures all-to-all bandwidth between MPI ranks on raw libfabric endpoints\n"
    "and keeps every sample of every rank in one HDF5 file.\n";

// test/cli runs each of them.
constexpr std::string_view kExamples =
    "Examples\n"
    "  mpirun -n 4 a2aperf alltoall\n"
    "      24 message sizes, 100 ops each, over the best provider available\n"
    "  mpirun -n 4 a2aperf alltoall --provider tcp --sizes 1KiB..1MiB*2 -o tcp.h5\n"
    "      powers of two over one provider, into a file of that name\n"
    "  mpirun -n 2 a2aperf alltoall --sizes 60000 --schedule shift,naive --window 1,all\n"
    "      a sweep: every schedule with every window\n"
    "  mpirun -n 2 a2aperf alltoall --sizes 8KiB --baseline mpi --precision 2% --time-budget 9s\n"
    "      compared with MPI_Alltoall; as many ops as 2% needs, at most 9 s of them per point\n"
    "  a2aperf alltoall --dry-run --ranks 320 --ranks-per-node 4\n"
    "      what a large run would need, without running it\n";

constexpr std::string_view kFarewell =
    "More\n"
    "  a2aperf alltoall --help-all    every option\n"
    "  a2aperf --list                 providers, modes and schedules\n"
    "  a2a --help                     analyse the files: tables, plots, comparisons, a report\n";

constexpr std::string_view kTakes[] = {"schedule", "window",      "baseline",    "precision", "min-ops",
                                       "max-ops",  "time-budget", "complete-at", "trace",     "no-sentinel",
                                       "ops",      "warmup",      "sync",        "post"};

// MPI is given whole messages.
Point baseline_of(Point point) {
    point.chunk = 0;
    return point;
}

const WorkloadRow kRow{
    .name = "alltoall",
    .purpose = "measures",
    .usage = "the whole all-to-all",
    .takes = kTakes,
    .options = alltoall_option_rows(),
    .page = {.introduction = kIntroduction,
             .examples = kExamples,
             .farewell = kFarewell,
             .sizes = "the 24 sizes 1000..15000+1000,20000..60000+5000",
             .formats = "table, wide, compat (as in 2019), csv or json"},
    .set_defaults =
        [](Options& options) {
            options.sizes = parse_sizes(kDefaultSizes);
            options.own = AllToAllOptions{};
        },
    .check = check_alltoall_options,
    .settle =
        [](Options& options, const Catalogue& catalogue) {
            if (alltoall_options(options).search) widen_axes(options, catalogue.modes);
            if (options.sync == Sync::none) settle_pipelined(options);
        },
};

// The closing words, on rank 0.
void say_last_words(Launch& launch, std::map<int, PointResult>& results) {
    const Plan& plan = launch.plan();
    std::vector<Row> rows;
    for (std::size_t i = 0; i < plan.points.size(); ++i) {
        const auto index = static_cast<int>(i);
        rows.push_back(
            {plan.points[i], results.contains(index) ? &results[index] : nullptr, launch.is_before(index)});
    }
    for (const auto& line :
         closing_words(rows, launch.job().layout(), launch.file().path().string(),
                       {launch.measurement().node_link().gbps, launch.options().link_rate.has_value()},
                       launch.oversubscription(), launch.points_before(),
                       is_yielding(launch.options(), launch.prepared().polling.way)))
        tell(line);
    for (const auto& line : known_to_be_faster(launch.prepared().choice.offer.provider(), rows))
        tell("note: " + line);
}

std::vector<Column> own_columns() {
    std::vector<Column> columns{window_bytes_column()};
    for (auto& some : {chunk_columns(),
                       {endpoints_column(), queues_column(), threads_column(), pinned_threads_column(),
                        polling_column(), forwarded_column()},
                       traffic_columns()})
        for (const Column& column : some) columns.push_back(column);
    columns.push_back(whole_time_column());
    for (Column& column : rate_columns()) columns.push_back(std::move(column));
    return columns;
}

std::string start_of(const Launch& launch) {
    switch (launch.measurement().start().start) {
    case Start::clock:
        return "ops start on a common clock";
    case Start::none:
        return std::string(kFollowOn);
    case Start::barrier:
        break;
    }
    return "ops start at a barrier";
}

void measure_all(Launch& launch) {
    launch.open_file();
    launch.at_file([&](Recorder& recorder) { write_traffic(recorder, launch.plan()); });
    Progress progress = launch.make_progress();
    const Plan& plan = launch.plan();
    TableWriter table(launch.options().format, alltoall().schema().columns, launch.job().layout(),
                      launch.prepared().provider(), launch.oversubscription(), start_of(launch));
    const auto show_row = [&](const Point& point, const PointResult* result) {
        if (point.role != Role::sentinel) launch.show(progress, table.row({point, result}));
    };
    launch.show(progress, table.header());
    launch.introduce(progress);
    if (const std::string words = forwarding_words(plan); !words.empty()) progress.note(words);
    std::map<int, PointResult> results; // on rank 0
    for (const Point& point : plan.points)
        if (point.is_skipped()) show_row(point, nullptr);
    const auto show = [&](int index, PointResult&& result) {
        show_row(plan.points[static_cast<std::size_t>(index)], &result);
        results[index] = kept_for_closing(std::move(result));
    };
    launch.measure_points(progress, [&](int index, PointOutcome&& outcome) {
        show(index, std::move(outcome.own));
        if (outcome.beside) show(plan.points[static_cast<std::size_t>(index)].partner, std::move(*outcome.beside));
    });
    launch.show(progress, table.footer());
    launch.finish();
    if (!launch.job().is_root()) return;
    progress.clear();
    if (!launch.options().is_quiet) say_last_words(launch, results);
}

// Of a sweep; a search spans the same ones round by round.
Axes axes_of(const Options& options) {
    return {.sizes = options.sizes,
            .modes = options.modes,
            .schedules = options.schedules,
            .windows = options.windows,
            .chunks = alltoall_options(options).chunks,
            .endpoints = alltoall_options(options).endpoints,
            .queues = alltoall_options(options).queues,
            .threads = alltoall_options(options).threads,
            .polls = polls_of(options),
            .traffics = alltoall_options(options).patterns,
            .redraws = alltoall_options(options).redraws,
            .post = options.post,
            .own_role = options.sync == Sync::none ? kPipelined : std::string_view(),
            .with_baseline = options.with_mpi_baseline,
            .with_sentinel = options.with_sentinel,
            .order = options.order,
            .seed = options.seed};
}

class AllToAll final : public Workload {
public:
    const WorkloadRow& row() const override { return kRow; }
    std::string_view demands() const override { return "an all-to-all needs"; }

    std::vector<Bytes> message_sizes(const Options& options, const Layout& layout) const override {
        std::vector<Bytes> sizes;
        const Plan all = make_plan(axes_of(options), layout, [](const Point&) { return std::nullopt; });
        for (const Point& point : all.points) sizes.push_back(point.largest_of_op());
        return sizes;
    }

    Plan plan(const Options& options, const Layout& layout, const Skip& skip) const override {
        if (alltoall_options(options).search) {
            Plan first = plan_search(options, layout, skip);
            require_time(options, first, layout.ranks());
            return first;
        }
        return make_plan(axes_of(options), layout, [&](const Point& point) {
            auto why = pipeline_trouble(point);
            return why ? why : skip(point);
        });
    }

    int most_channels(const Options& options) const override {
        ChannelCounts counts;
        for (const EndpointSet& set : endpoint_sets(axes_of(options))) counts.hold(set.endpoints, set.queues);
        if (alltoall_options(options).search) counts.hold(1, Queues::each); // of the default setting
        return counts.all();
    }

    bool deals_peers() const override { return true; }

    bool shares_queues(const Options& options) const override {
        return std::ranges::count(alltoall_options(options).queues, Queues::one) > 0;
    }

    std::optional<std::string> trouble(const Offer& offer, const Point& point) const override {
        return pipeline_trouble(offer, point);
    }

    std::string describe(const Plan& plan, const Options& options, int ranks) const override {
        std::string lines;
        for (const Point& point : plan.points) {
            if (point.role != Role::measure && point.role != Role::search) continue;
            lines += "  " + point.label();
            if (point.partner >= 0)
                lines += fmt::format(", with MPI_Alltoall{} as baseline", point.traffic ? "v" : "");
            if (point.forwarding && !point.is_skipped())
                lines +=
                    fmt::format(", leaders forward {} in each op", format_bytes(point.forwarding->forwarded()));
            if (point.is_skipped()) lines += fmt::format(", skipped: {}", point.skip_reason);
            lines += '\n';
        }
        if (!alltoall_options(options).search) return lines;
        const std::string untried = untried_words(options, plan, ranks, {}, [](int) { return std::string(); });
        return untried.empty() ? lines : lines + fmt::format("  {}\n", untried);
    }

    int messages_at_once(int ranks) const override { return ranks; }

    double seconds_of_point(const Options& options, const Point& point, double ops, int ranks) const override {
        double seconds = ops * seconds_of_op(point, ranks);
        if (options.with_mpi_baseline) seconds += ops * seconds_of_op(baseline_of(point), ranks);
        if (options.time_budget) seconds = std::min(seconds, static_cast<double>(*options.time_budget) * 1e-9);
        // What is drawn anew for each op is verified draw by draw, one of which ops has.
        return kSecondsBesideOps + seconds + (point.draws() - 1) * seconds_of_op(point, ranks);
    }

    std::optional<Nanoseconds> time_asked(const Options& options) const override {
        return alltoall_options(options).search;
    }

    bool is_collective() const override { return true; }
    double gbps_rank(const Point& point, const Layout& layout, double op_time_ns) const override {
        return bandwidths(layout, point.message_size, op_time_ns).rank;
    }
    Schema schema() const override {
        static const std::vector<Column> columns = columns_with(own_columns());
        static const std::vector<SampleColumn> samples = samples_with({});
        return {.workload = kRow.name,
                .subject = "all-to-all",
                .columns = columns,
                .samples = samples,
                .replicate = Replicate::launch,
                .block = 10};
    }
    std::optional<GroupDeclaration> group(const Options&, const Plan& plan, int ranks) const override {
        return traffic_group(plan, ranks);
    }
    void measure(Launch& launch) const override {
        alltoall_options(launch.options()).search ? search_all(launch) : measure_all(launch);
    }
};

} // namespace

const Workload& alltoall() {
    static const AllToAll row;
    return row;
}

} // namespace a2aperf
