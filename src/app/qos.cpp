// SPDX-License-Identifier: BSD-3-Clause
// Paths side by side: who gets how much of what they share, interval by interval.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "a2aperf/base/error.hpp"
#include "a2aperf/measure/path_streams.hpp"
#include "a2aperf/plan/paths_plan.hpp"
#include "a2aperf/plan/size_list.hpp"
#include "launch.hpp"
#include "qos_columns.hpp"
#include "qos_options.hpp"
#include "qos_table.hpp"

namespace a2aperf {
namespace {

constexpr Nanoseconds kLook = 100'000'000; // within an interval, for signals and for other ranks

constexpr std::string_view kIntroduction =
    "a2aperf qos measures how paths share what they have in common: each sends without a pause\n"
    "over an endpoint of its own, all of them at the same time. What each of them got is noted\n"
    "interval by interval: the table has the shares, and Jain's index of them.\n";

// test/cli runs each of them.
constexpr std::string_view kExamples =
    "Examples\n"
    "  mpirun -n 2 a2aperf qos --paths 3 --sizes 4KiB --duration 1s --interval 200ms\n"
    "      three paths from rank 0 to rank 1, in five intervals\n"
    "  mpirun -n 2 a2aperf qos --path 0:1 --path 0:1,size=64KiB,start=1s --duration 3s --interval 1s\n"
    "      small messages, and after a second large ones beside them\n"
    "  mpirun -n 3 a2aperf qos --path 0:2 --path 1:2 --duration 2s --interval 1s --format qos\n"
    "      two ranks to one, printed as published\n"
    "  a2aperf qos --dry-run --ranks 2 --paths 8\n"
    "      what eight paths would need, without running them\n";

constexpr std::string_view kFarewell = "More\n"
                                       "  a2aperf qos --help-all     every option\n"
                                       "  a2a --help                 analyse the files: tables, findings\n";

constexpr std::string_view kTakes[] = {"window"};

void set_defaults(Options& options) {
    options.least_size = 0;
    options.sizes = {4096};
    options.windows = {{.messages = 32}};
    options.ops = 1;
    options.warmup = 0;
    options.with_sentinel = false;
    options.own = QosOptions{};
}

const WorkloadRow kRow{
    .name = "qos",
    .purpose = "measures shares",
    .usage = "paths side by side, and their shares",
    .takes = kTakes,
    .options = qos_option_rows(),
    .page = {.introduction = kIntroduction,
             .examples = kExamples,
             .farewell = kFarewell,
             .sizes = "4096 B, of the paths that have none of their own",
             .formats = "table, qos (as published), csv or json"},
    .set_defaults = set_defaults,
    .check = check_qos_options,
};

int ticks_of(const QosOptions& asked) {
    const std::int64_t ticks = (asked.duration + asked.interval - 1) / asked.interval;
    return static_cast<int>(std::min<std::int64_t>(ticks, asked.most_intervals));
}

void require_ranks(const std::vector<AskedPath>& paths, int ranks) {
    for (const AskedPath& path : paths)
        if (const Rank last = std::max(path.from, path.to); last >= ranks)
            throw UsageError(fmt::format("--path {}:{} names rank {}, and there are {} ranks: 0 to {}", path.from,
                                         path.to, last, ranks, ranks - 1));
}

std::vector<Path> paths_with(const std::vector<AskedPath>& asked, const std::string& mode, Bytes size, int window) {
    const std::vector<int> channels = channels_of(asked);
    std::vector<Path> paths;
    for (const AskedPath& path : asked)
        paths.push_back({path.from, path.to, path.traffic_class, path.size.value_or(size),
                         path.window.value_or(window), path.mode.value_or(mode), path.start,
                         channels[paths.size()]});
    return paths;
}

std::string mode_of(const std::vector<Path>& paths) {
    const std::string& first = paths.front().mode;
    const bool is_one = std::ranges::all_of(paths, [&](const Path& path) { return path.mode == first; });
    return is_one ? first : std::string(kMixedModes);
}

class QosWorkload final : public DurationWorkload {
public:
    const WorkloadRow& row() const override { return kRow; }
    std::string_view demands() const override { return "paths need"; }
    int most_channels(const Options& options) const override {
        return std::ranges::max(channels_of(asked_paths(options))) + 1;
    }
    std::vector<Bytes> message_sizes(const Options& options, const Layout&) const override {
        std::set<Bytes> all;
        for (const AskedPath& path : asked_paths(options))
            if (path.size)
                all.insert(*path.size);
            else
                all.insert(options.sizes.begin(), options.sizes.end());
        return {all.begin(), all.end()};
    }
    std::vector<std::string> modes(const Options& options) const override {
        std::vector<std::string> all;
        const auto add_one = [&](const std::string& mode) {
            if (std::ranges::find(all, mode) == all.end()) all.push_back(mode);
        };
        for (const AskedPath& path : asked_paths(options))
            if (path.mode)
                add_one(*path.mode);
            else
                std::ranges::for_each(options.modes, add_one);
        return all;
    }
    std::vector<TrafficClass> classes(const Options& options) const override {
        std::vector<TrafficClass> all;
        for (const AskedPath& path : asked_paths(options)) all.push_back(path.traffic_class);
        return all;
    }
    std::vector<TrafficClass> classes_of(const Options& options, const Layout&, Rank rank) const override {
        const std::vector<AskedPath> paths = asked_paths(options);
        const std::vector<int> channels = channels_of(paths);
        std::vector<TrafficClass> all(static_cast<std::size_t>(most_channels(options)));
        for (std::size_t i = 0; i < paths.size(); ++i) {
            const TrafficClass& own = paths[i].traffic_class;
            const bool is_here = paths[i].from == rank || paths[i].to == rank;
            if (is_here || own.kind != TrafficClass::Kind::service_level)
                if (own != TrafficClass{}) all[static_cast<std::size_t>(channels[i])] = own;
        }
        return all;
    }
    std::optional<std::string> trouble(const Offer& offer, const Point& point) const override {
        return path_trouble(offer, point);
    }

    Plan plan(const Options& options, const Layout& layout, const Skip& skip) const override {
        const QosOptions& asked = qos_options(options);
        const std::vector<AskedPath> paths = asked_paths(options);
        require_ranks(paths, layout.ranks());
        Plan plan;
        int row = 0;
        for (const std::string& mode : options.modes)
            for (const std::string& memory : options.memories)
                for (const Window& window : options.windows)
                    for (const Bytes size : options.sizes) {
                        PathsPlan flow;
                        flow.paths = paths_with(paths, mode, size, window.messages);
                        flow.duration = asked.duration;
                        flow.interval = asked.interval;
                        flow.first_row = row;
                        for (const Path& path : flow.paths) flow.who.push_back({path.from, path.to});
                        row += static_cast<int>(paths.size());
                        Point point;
                        point.mode = mode_of(flow.paths);
                        point.memory = memory;
                        point.window = std::ranges::max(flow.paths, {}, &Path::window).window;
                        point.message_size = std::ranges::max(flow.paths, {}, &Path::size).size;
                        point.channels = most_channels(options);
                        point.flow = std::make_shared<PathsPlan>(std::move(flow));
                        add(plan, std::move(point), skip);
                    }
        put_in_order(plan, options);
        return plan;
    }

    Schema schema() const override {
        static const std::vector<Column> columns = qos_columns();
        static const std::vector<SampleColumn> kept = qos_samples();
        return {.workload = kRow.name,
                .subject = "paths side by side",
                .columns = columns,
                .samples = kept,
                .replicate = Replicate::launch,
                .summarise = [](const Samples& samples, const Layout&, Bytes, const SummaryRules& rules) {
                    return summarise_times(samples, rules);
                }};
    }
    std::optional<GroupDeclaration> group(const Options& options, const Plan& plan, int) const override {
        return qos_group(plan, ticks_of(qos_options(options)));
    }
    std::unique_ptr<Flow> flow(const EngineParts& parts) const override {
        return make_path_streams(parts, paths_of(parts.point).paths);
    }
    Duration duration_of(const Options& options, const Point&) const override {
        const QosOptions& asked = qos_options(options);
        return {.length = asked.duration, .tick = asked.interval, .may_starve = true, .look = kLook};
    }
    // One row of samples for each interval of each path, and one for what comes after the end.
    int most_ticks(const Options& options, int) const override {
        const QosOptions& asked = qos_options(options);
        return static_cast<int>(asked_paths(options).size()) * (ticks_of(asked) + 1);
    }

protected:
    double seconds_of(const Options& options, const Point&) const override {
        return static_cast<double>(qos_options(options).duration) * 1e-9;
    }
    std::unique_ptr<DurationTable> table(const Launch& launch) const override {
        const Layout& layout = launch.job().layout();
        return make_qos_table(
            launch.options().format,
            fmt::format("{}, {}, {}", counted(layout.ranks(), "rank"), counted(layout.nodes(), "node"),
                        launch.prepared().provider()),
            [&launch](const Point& point) -> std::vector<std::vector<PathInterval>> {
                if (!launch.job().is_root()) return {};
                const int intervals = ticks_of(qos_options(launch.options()));
                return stored_intervals(launch.file().recorder(), point, intervals);
            },
            [&launch](const Point& point) { return stored_classes(launch.file().recorder(), point); },
            launch.options().memories.size() > 1, qos_options(launch.options()).duration,
            qos_options(launch.options()).interval, qos_options(launch.options()).most_intervals);
    }
};

} // namespace

const Workload& qos() {
    static const QosWorkload row;
    return row;
}

} // namespace a2aperf
