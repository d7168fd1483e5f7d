// SPDX-License-Identifier: BSD-3-Clause
// Every ordered pair of ranks, in steps in which each rank sends to one other.
#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "a2aperf/base/error.hpp"
#include "a2aperf/config/selection.hpp"
#include "a2aperf/config/values.hpp"
#include "a2aperf/plan/pair_plan.hpp"
#include "a2aperf/plan/size_list.hpp"
#include "a2aperf/record/closing.hpp"
#include "a2aperf/record/recorder.hpp"
#include "a2aperf/stats/pair_model.hpp"
#include "estimate.hpp"
#include "launch.hpp"
#include "pair_matrix.hpp"
#include "pair_options.hpp"
#include "pair_table.hpp"
#include "workload.hpp"

namespace a2aperf {
namespace {

// A step is a small point: verification, agreements and the gathering weigh more than its ops.
constexpr double kSecondsPerStep = 5e-3;
constexpr double kSecondsPerStepAndRank = 20e-6;
constexpr double kSecondsPerAgreement = 50e-6;

// Rank 0 writes the cells of a step one by one, as far apart as rows of the matrix are, and at the end it reads and
// compresses all of it: of 1,280 and 10,240 ranks 38 and 59 us for each rank of a step, and 9 and 12 ns for a byte
// (docs/scaling.md).
constexpr double kSecondsToWriteCells = 60e-6;
constexpr double kSecondsPerByteAtEnd = 12e-9;

constexpr int kMostSuspects = 10'000;

// The most that judging took of rank 0's memory for a pair at one size, where 0.3 to 5 million were judged.
constexpr Bytes kBytesPerCell = 140;

constexpr std::string_view kIntroduction =
    "a2aperf pairs measures the bandwidth and the latency of every ordered pair of ranks, in\n"
    "steps in which each rank sends to one other and receives from one. A rank that is slow in\n"
    "all its pairs sends or receives slowly; a pair that is slow by itself is a weak link.\n"
    "Outliers are measured again with all other ranks idle.\n";

// test/cli runs each of them.
constexpr std::string_view kExamples =
    "Examples\n"
    "  mpirun -n 4 a2aperf pairs\n"
    "      all 12 pairs at 8 B and at 1 MiB, over the best provider available\n"
    "  mpirun -n 4 a2aperf pairs --provider tcp --sizes 64KiB --ops 50 -o tcp.h5\n"
    "      one size over one provider, with more ops for a more precise median\n"
    "  mpirun -n 3 a2aperf pairs --steps 1 --suspects 0 --format csv\n"
    "      one step only, nothing measured twice, CSV with one line per pair\n"
    "  a2aperf pairs --dry-run --ranks 10240 --ranks-per-node 32\n"
    "      the memory and time it would need, without running it\n";

constexpr std::string_view kFarewell =
    "More\n"
    "  a2aperf pairs --help-all    every option\n"
    "  a2aperf alltoall --help     the whole all-to-all\n"
    "  a2a --help                  analyse the files: the matrix as a figure, the findings\n";

using Values = std::span<const std::string>;

PairOptions& own(Options& options) {
    return std::any_cast<PairOptions&>(options.own);
}

constexpr OptionRow kOptions[] = {
    {.name = "steps",
     .value = "N",
     .section = Section::what,
     .audience = Audience::daily,
     .example = "64",
     .help =
         "measure at most N of the R-1 steps, evenly spread by the random seed; the pairs of the others are not "
         "measured (default: all, above 512 ranks 256)",
     .set = [](Options& o, Values v, const Catalogue&) { own(o).steps = parse_int(v[0], 1, kMostRanks); }},
    {.name = "suspects",
     .value = "N",
     .section = Section::what,
     .audience = Audience::daily,
     .example = "16",
     .help = "measure at most N outlying pairs again with all other ranks idle; 0: none (default: 16)",
     .set = [](Options& o, Values v, const Catalogue&) { own(o).suspects = parse_int(v[0], 0, kMostSuspects); }},
};

void set_defaults(Options& options) {
    options.sizes = parse_sizes(kDefaultPairSizes);
    options.ops = 10;
    options.warmup = 2;
    options.with_sentinel = false;
    options.own = PairOptions{};
}

void check(const Options& options) {
    if (options.modes.size() > 1)
        throw UsageError(fmt::format("--mode: pairs takes one mode: {} here, and another launch for the next",
                                     options.modes.front()));
    constexpr Format kFormats[] = {Format::table, Format::csv, Format::json};
    require_format(options, kFormats, "table, csv, json");
    require_one_memory(options);
    require_one_poll(options);
    if (options.sync == Sync::none) throw UsageError("--sync: for pairs expected one of auto, clock, barrier");
}

constexpr std::string_view kTakes[] = {"ops", "warmup", "sync", "post"};

constexpr WorkloadRow kRow{
    .name = "pairs",
    .purpose = "finds weak links",
    .usage = "every pair of ranks: finds weak links",
    .takes = kTakes,
    .options = kOptions,
    .page = {.introduction = kIntroduction,
             .examples = kExamples,
             .farewell = kFarewell,
             .sizes = "8,1MiB, for latency and bandwidth",
             .formats = "table, csv or json (one line per pair)"},
    .set_defaults = set_defaults,
    .check = check,
};

// Two digits; the estimate is no better.
Bytes two_digits(Bytes bytes) {
    Bytes unit = 1;
    while (bytes / unit >= 100) unit *= 10;
    return bytes / unit * unit;
}

PairAxes pair_axes_of(const Options& options) {
    return {.sizes = options.sizes,
            .mode = options.modes.front(),
            .post = options.post,
            .most_steps = pair_options(options).steps,
            .order = options.order,
            .seed = options.seed};
}

std::string pair_effort(const Plan& plan, const Options& options, int ranks) {
    std::set<int> steps;
    std::set<Bytes> sizes;
    for (const int index : plan.order) {
        steps.insert(plan.points[static_cast<std::size_t>(index)].distance);
        sizes.insert(plan.points[static_cast<std::size_t>(index)].message_size);
    }
    return fmt::format("{} of {} steps x {} size{} x ({} + {}) ops on {} ranks", steps.size(), ranks - 1,
                       sizes.size(), sizes.size() == 1 ? "" : "s", options.warmup, options.ops, ranks);
}

// On rank 0; one report for every message size.
struct Findings {
    std::vector<PairReport> sizes;
    int isolated = 0; // pairs that were measured with all others idle
};

struct Turn {
    std::size_t size;
    std::size_t suspect;
};

// The worst of each size before the second of any: a latency that scatters leaves room for the bandwidths.
std::vector<Turn> turns_of(const std::vector<PairReport>& sizes, int most) {
    std::vector<Turn> turns;
    for (std::size_t suspect = 0; true; ++suspect) {
        const std::size_t before = turns.size();
        for (std::size_t size = 0; size < sizes.size(); ++size)
            if (suspect < sizes[size].verdict.suspects.size()) turns.push_back({size, suspect});
        if (turns.size() == before) break;
    }
    turns.resize(std::min(turns.size(), static_cast<std::size_t>(most)));
    return turns;
}

// On rank 0. From the file, where those of an earlier launch are too.
Findings examine(Launch& launch, const PairMatrix& matrix) {
    Findings findings;
    std::map<Bytes, std::vector<PairTime>> by_size;
    const std::vector<Point>& points = launch.plan().points;
    for (std::size_t i = 0; i < points.size(); ++i) {
        std::vector<PairTime>& times = by_size[points[i].message_size];
        if (!launch.file().recorder().is_complete(static_cast<int>(i))) continue;
        const auto of_step = matrix.read(launch.file().recorder(), points[i]);
        times.insert(times.end(), of_step.begin(), of_step.end());
    }
    for (auto& [size, times] : by_size) {
        PairReport report{size, judge_pairs(times, launch.job().layout()), {}};
        times = {}; // the verdict has them
        if (launch.prepared().is_oversubscribed(launch.job().layout()))
            report.verdict.suspects.clear(); // whose core was taken is no finding
        report.isolated.assign(report.verdict.suspects.size(), kAbsent);
        findings.sizes.push_back(std::move(report));
    }
    return findings;
}

// On rank 0; while all other ranks are idle.
std::vector<Nanoseconds> measure_isolated(Launch& launch, Rank source, Rank destination, Bytes message_size) {
    const int ranks = launch.job().ranks();
    Point point = pair_point(pair_axes_of(launch.options()), message_size, (destination - source + ranks) % ranks);
    point.only_sender = source;
    return transfer_times(
        launch.sample(point, fmt::format("{}, rank {} to rank {} alone", point.label(), source, destination)),
        source, destination);
}

// Rank 0 knows whom to look at; the others are told pair by pair.
void measure_suspects(Launch& launch, const PairMatrix& matrix, Findings& findings, Progress& progress) {
    const Job& job = launch.job();
    const std::vector<Turn> turns = turns_of(findings.sizes, pair_options(launch.options()).suspects);
    auto count = turns.size();
    job.broadcast(count);
    launch.at_file([](Recorder& recorder) { PairMatrix::clear_isolated(recorder); });
    if (job.is_root() && count > 0)
        progress.note(fmt::format("{} again, with all other ranks idle",
                                  counted(static_cast<std::int64_t>(count), "outlying pair")));
    for (std::size_t i = 0; i < count; ++i) {
        struct {
            Rank source, destination;
            Bytes message_size;
        } pair{};
        PairReport* report = job.is_root() ? &findings.sizes[turns[i].size] : nullptr;
        if (report != nullptr) {
            const PairTime& suspect = report->verdict.suspects[turns[i].suspect].pair;
            pair = {suspect.source, suspect.destination, report->message_size};
        }
        job.broadcast(pair);
        const auto times = measure_isolated(launch, pair.source, pair.destination, pair.message_size);
        launch.at_file([&](Recorder& recorder) {
            const double p50 =
                told_by_clock(median(times, launch.options().percentile), launch.measurement().clock().error_ns);
            report->isolated[turns[i].suspect] = p50;
            matrix.write_isolated(recorder, static_cast<int>(i),
                                  {pair.source, pair.destination, pair.message_size, times, p50});
        });
    }
    findings.isolated = static_cast<int>(count);
}

void report(const Launch& launch, Progress& progress, const Findings& findings) {
    const Job& job = launch.job();
    std::vector<std::string> hosts;
    for (Rank rank = 0; rank < job.ranks(); ++rank) hosts.push_back(job.host(rank));
    const double error = launch.measurement().clock().error_ns;
    const bool is_by_clock = launch.measurement().start().start == Start::clock;
    const std::string start =
        fmt::format("{}, {}", is_by_clock ? "clock" : "barrier",
                    error > 0 ? fmt::format("{}synchronised to {:.0f} ns",
                                            is_by_clock ? "" : "times on the common clock, ", error)
                              : std::string("all ranks on one clock"));
    const PairTable table(job.layout(), hosts,
                          {.provider = launch.prepared().provider(),
                           .ops = launch.options().ops,
                           .start = start,
                           .oversubscription = launch.oversubscription()});
    launch.show(progress, table.text(launch.options().format, findings.sizes));
}

void measure_pairs(Launch& launch) {
    const Options& options = launch.options();
    const Plan& plan = launch.plan();
    const int ranks = launch.job().ranks();
    launch.open_file();
    Progress progress = launch.make_progress();
    launch.introduce(progress);
    progress.note(fmt::format("{}: about {}", pair_effort(plan, options, ranks),
                              format_estimate(estimated_time(plan, options, ranks))));
    for (const Point& point : plan.points)
        if (point.is_skipped() && point.distance == 1)
            progress.note(fmt::format("{} B skipped: {}", point.message_size, point.skip_reason));
    launch.measure_points(progress, [](int, PointOutcome&&) {});
    const PairMatrix matrix(plan, ranks);
    Findings findings;
    launch.at_file([&](Recorder&) { findings = examine(launch, matrix); });
    if (pair_options(options).suspects > 0) measure_suspects(launch, matrix, findings, progress);
    launch.finish();
    launch.at_root([&] { report(launch, progress, findings); }); // a line for every pair, as csv
    if (!launch.job().is_root()) return;
    if (const std::string words = launch.oversubscription(); !words.empty()) progress.note(words);
    const std::size_t before = launch.points_before();
    progress.note(fmt::format("{}, {} measured again: {}",
                              what_was_measured({.measured = launch.points_measured() + before, .before = before}),
                              counted(findings.isolated, "pair"), launch.file().path().string()));
}

class Pairs final : public Workload {
public:
    const WorkloadRow& row() const override { return kRow; }
    std::string_view demands() const override { return "pairs need"; }

    Plan plan(const Options& options, const Layout& layout, const Skip& skip) const override {
        return make_pair_plan(pair_axes_of(options), layout, skip);
    }

    // Steps that cannot be measured are so for their size, all alike.
    std::string describe(const Plan& plan, const Options& options, int ranks) const override {
        std::string lines = fmt::format("  {}, then at most {} outlying pairs again\n",
                                        pair_effort(plan, options, ranks), pair_options(options).suspects);
        for (const Point& point : plan.points)
            if (point.distance == 1)
                lines += fmt::format("  {} {} B{}{}\n", point.mode, point.message_size,
                                     point.is_skipped() ? ", skipped: " : "", point.skip_reason);
        return lines;
    }

    int messages_at_once(int) const override { return 1; }

    double seconds_of_point(const Options&, const Point& point, double ops, int ranks) const override {
        const double op =
            kSecondsPerAgreement + kSecondsPerMessage + static_cast<double>(point.message_size) / kBytesPerSecond;
        return kSecondsPerStep + kSecondsPerStepAndRank * ranks + ops * op;
    }
    int points_afterwards(const Options& options) const override { return pair_options(options).suspects; }
    double seconds_of_writing(const Options& options, const Plan& plan, int ranks) const override {
        return kSecondsToWriteCells * ranks * static_cast<double>(plan.order.size()) +
               kSecondsPerByteAtEnd * static_cast<double>(bytes_of(*group(options, plan, ranks)));
    }
    std::string own_room(const Plan& plan, const Options& options, const Layout& layout) const override {
        const int ranks = layout.ranks();
        const Bytes judged = plan.order.size() * static_cast<Bytes>(ranks) * kBytesPerCell;
        const RecorderSettings settings{.max_attempts = 2 * options.ops, // of a start by the clock
                                        .percentile = options.percentile,
                                        .schema = schema(),
                                        .group = group(options, plan, ranks)};
        return fmt::format(
            "results file: rank 0 writes up to {} until the launch ends, {} of it the pair matrix; it "
            "needs about {} of memory to judge that\n",
            format_bytes(two_digits(largest_file(settings, plan, layout))), format_bytes(bytes_of(*settings.group)),
            format_bytes(two_digits(judged)));
    }

    bool is_collective() const override { return false; }
    double gbps_rank(const Point& point, const Layout&, double op_time_ns) const override {
        return pair_gbps(point.message_size, op_time_ns);
    }
    Schema schema() const override {
        static const std::vector<Column> columns = columns_with(rate_columns());
        static const std::vector<SampleColumn> samples = samples_with({});
        return {.workload = kRow.name,
                .subject = "pairs of ranks",
                .columns = columns,
                .samples = samples,
                .replicate = Replicate::op,
                .summarise = summarise_step};
    }
    std::optional<GroupDeclaration> group(const Options& options, const Plan& plan, int ranks) const override {
        return PairMatrix(plan, ranks).declaration(pair_options(options).suspects, options.ops, options.percentile);
    }
    void measure(Launch& launch) const override { measure_pairs(launch); }
};

} // namespace

const PairOptions& pair_options(const Options& options) {
    return std::any_cast<const PairOptions&>(options.own);
}

const Workload& pairs() {
    static const Pairs row;
    return row;
}

} // namespace a2aperf
