// SPDX-License-Identifier: BSD-3-Clause
// Round trips: some ranks send requests to others, which answer them.
#include <algorithm>
#include <limits>
#include <map>

#include <fmt/format.h>

#include "a2aperf/base/error.hpp"
#include "a2aperf/config/values.hpp"
#include "a2aperf/measure/echo_engine.hpp"
#include "a2aperf/measure/flow_modes.hpp"
#include "a2aperf/plan/echo_plan.hpp"
#include "a2aperf/plan/size_list.hpp"
#include "a2aperf/stats/round_trips.hpp"
#include "duration_workload.hpp"
#include "echo_columns.hpp"
#include "echo_table.hpp"
#include "estimate.hpp"
#include "launch.hpp"

namespace a2aperf {
namespace {

constexpr int kMostSamples = 100'000'000;
constexpr int kMostRanks = 1 << 24;

struct EchoOptions {
    std::optional<StreamPairs> pairs; // else by these, or halves
    std::optional<int> clients, servers;
    Bytes request_size = 30;
    std::vector<int> outstanding{1};
    std::optional<Nanoseconds> duration;
    int most_samples = 20'000;
};

EchoOptions& own(Options& options) {
    return std::any_cast<EchoOptions&>(options.own);
}
const EchoOptions& own(const Options& options) {
    return std::any_cast<const EchoOptions&>(options.own);
}

StreamPairs pairs_of(const EchoOptions& asked) {
    if (asked.clients || asked.servers)
        return StreamPairs::between(asked.clients.value_or(-1), asked.servers.value_or(-1));
    return asked.pairs.value_or(StreamPairs::parse("halves"));
}

// That one client asks.
int most_servers(const std::vector<StreamPair>& pairs) {
    std::map<Rank, int> of_client;
    int most = 0;
    for (const StreamPair& pair : pairs) most = std::max(most, ++of_client[pair.from]);
    return most;
}

// Of one client in a point.
std::int64_t most_trips(const Options& options, int ranks) {
    const EchoOptions& asked = own(options);
    if (asked.duration) return std::numeric_limits<std::int64_t>::max();
    return std::int64_t{options.ops} * most_servers(pairs_of(asked).of(ranks));
}

// The places of a client are under way for as long as a point lasts, but what was sent before its end has its
// answer behind it, and the end is not seen at once.
std::int64_t most_buckets_in(Nanoseconds length, const EchoOptions& asked, int ranks) {
    constexpr int kBehindItsEnd = 4096;
    constexpr std::int64_t kAll = TimeHistogram::kBuckets;
    const std::int64_t places =
        std::int64_t{std::ranges::max(asked.outstanding)} * std::max(most_servers(pairs_of(asked).of(ranks)), 1);
    if (length > std::numeric_limits<Nanoseconds>::max() / places) return kAll;
    return std::min(kAll, most_buckets(places * length) + places + kBehindItsEnd);
}

constexpr std::string_view kIntroduction =
    "a2aperf echo measures round trips: a client sends a request to its server, which sends an\n"
    "answer of each of the sizes. The time of every round trip is taken, as the client sees it:\n"
    "the table has its percentiles, and the bandwidth of the answers.\n";

// test/cli runs each of them.
constexpr std::string_view kExamples =
    "Examples\n"
    "  mpirun -n 2 a2aperf echo --sizes 100,10KiB\n"
    "      a request of 30 B, answers of two sizes, 10000 round trips each\n"
    "  mpirun -n 2 a2aperf echo --sizes 100 --outstanding 1,2,4 --duration 200ms\n"
    "      up to four requests under way at once, for a time\n"
    "  mpirun -n 4 a2aperf echo --pairs neighbours --sizes 1KiB --request 1KiB --ops 1000\n"
    "      two clients at once, requests as long as their answers\n"
    "  mpirun -n 3 a2aperf echo --servers 1 --sizes 100 --ops 1000\n"
    "      two clients that ask one server\n"
    "  a2aperf echo --dry-run --ranks 320 --ranks-per-node 4\n"
    "      what a large run would need, without running it\n";

constexpr std::string_view kFarewell = "More\n"
                                       "  a2aperf echo --help-all    every option\n"
                                       "  a2a --help                 analyse the files: tables, findings\n";

using Values = std::span<const std::string>;

Bytes parse_request(std::string_view text) {
    const std::vector<Bytes> sizes = parse_sizes(text, 0);
    if (sizes.size() != 1) throw UsageError(fmt::format("{}: expected one size", quote(std::string(text))));
    return sizes.front();
}

constexpr OptionRow kOptions[] = {
    {.name = "pairs",
     .value = "PAIRS",
     .section = Section::what,
     .audience = Audience::daily,
     .example = "neighbours",
     .help =
         "which client asks which server: halves (rank r of the lower half asks r + R/2), neighbours (2r asks "
         "2r + 1), all-to-one (all ask rank 0), one-to-all (it asks all), or ranks as in 0:1,0:2 (default: halves)",
     .set = [](Options& o, Values v,
               const Catalogue&) { own(o).pairs = StreamPairs::parse(v[0], Partners::others); }},
    {.name = "clients",
     .value = "N",
     .section = Section::what,
     .audience = Audience::daily,
     .example = "3",
     .help = "instead of --pairs: the first N ranks ask the servers, in turn (default: all that are no servers)",
     .set = [](Options& o, Values v, const Catalogue&) { own(o).clients = parse_int(v[0], 1, kMostRanks); }},
    {.name = "servers",
     .value = "N",
     .section = Section::what,
     .audience = Audience::daily,
     .example = "1",
     .help = "instead of --pairs: the last N ranks answer (default: all that are no clients)",
     .set = [](Options& o, Values v, const Catalogue&) { own(o).servers = parse_int(v[0], 1, kMostRanks); }},
    {.name = "request",
     .value = "SIZE",
     .section = Section::what,
     .audience = Audience::daily,
     .example = "1KiB",
     .help = "size of a request (default: 30 B)",
     .set = [](Options& o, Values v, const Catalogue&) { own(o).request_size = parse_request(v[0]); }},
    {.name = "outstanding",
     .value = "LIST",
     .section = Section::what,
     .arity = Arity::several,
     .audience = Audience::daily,
     .example = "1,2,4",
     .help = "requests of a client to one server that may be under way at once (default: 1)",
     .set =
         [](Options& o, Values v, const Catalogue&) {
             own(o).outstanding.clear();
             for (const std::string& item : split_list(v))
                 if (const int count = parse_int(item, 1, kMostOutstanding);
                     std::ranges::find(own(o).outstanding, count) == own(o).outstanding.end())
                     own(o).outstanding.push_back(count);
         }},
    {.name = "duration",
     .value = "TIME",
     .section = Section::how_long,
     .audience = Audience::daily,
     .exclusive = "ops",
     .example = "200ms",
     .help = "instead of --ops: time that each point is measured",
     .set =
         [](Options& o, Values v, const Catalogue&) {
             own(o).duration = parse_positive_duration(v[0]);
             o.ops = 1; // of its file: a point is not made of so many
         }},
    {.name = "max-samples",
     .value = "N",
     .section = Section::how_long,
     .example = "1000",
     .help =
         "round trips of a client that are kept of a point one by one, the first ones; of more, percentiles are "
         "those of a histogram of all (default: 20000)",
     .set = [](Options& o, Values v, const Catalogue&) { own(o).most_samples = parse_int(v[0], 1, kMostSamples); }},
};

constexpr std::string_view kTakes[] = {"ops", "time-budget"};

void set_defaults(Options& options) {
    options.least_size = 0;
    options.sizes = parse_sizes("100,1KiB,10KiB,100KiB,1MiB");
    options.ops = 10'000;
    options.warmup = 0;
    options.with_sentinel = false;
    options.own = EchoOptions{};
}

void check(const Options& options) {
    if (own(options).pairs && (own(options).clients || own(options).servers))
        throw UsageError(
            fmt::format("--pairs and --{} exclude each other", own(options).clients ? "clients" : "servers"));
    require_flow_modes(options, EchoModes::kNames);
    constexpr Format kFormats[] = {Format::table, Format::clusterperf, Format::csv, Format::json};
    require_format(options, kFormats, "table, clusterperf, csv, json");
}

constexpr WorkloadRow kRow{
    .name = "echo",
    .purpose = "measures round trips",
    .usage = "round trips between pairs of ranks",
    .takes = kTakes,
    .options = kOptions,
    .page = {.introduction = kIntroduction,
             .examples = kExamples,
             .farewell = kFarewell,
             .sizes = "100,1KiB,10KiB,100KiB,1MiB, of the answers",
             .formats = "table, clusterperf, csv or json"},
    .set_defaults = set_defaults,
    .check = check,
};

class EchoWorkload final : public DurationWorkload {
public:
    const WorkloadRow& row() const override { return kRow; }
    std::string_view demands() const override { return "a round trip needs"; }

    Plan plan(const Options& options, const Layout& layout, const Skip& skip) const override {
        const EchoOptions& asked = own(options);
        const StreamPairs pairs = pairs_of(asked);
        EchoPlan echo;
        echo.pairs = pairs.text();
        echo.who = pairs.of(layout.ranks());
        echo.duration = asked.duration.value_or(0);
        echo.messages = asked.duration ? -1 : options.ops;
        echo.request_size = asked.request_size;
        Plan plan;
        for (const std::string& mode : options.modes)
            for (const std::string& memory : options.memories)
                for (const int outstanding : asked.outstanding)
                    for (const Bytes size : options.sizes) {
                        Point point;
                        point.mode = mode;
                        point.memory = memory;
                        point.message_size = size;
                        echo.outstanding = outstanding;
                        point.flow = std::make_shared<EchoPlan>(echo);
                        add(plan, std::move(point), skip);
                    }
        put_in_order(plan, options);
        return plan;
    }

    std::string own_room(const Plan& plan, const Options& options, int ranks) const override {
        const int each = most_ticks(options, ranks) + most_buckets(options, ranks);
        const Bytes samples =
            2 * sizeof(Nanoseconds) * static_cast<Bytes>(each) * static_cast<Bytes>(ranks) * plan.points.size();
        return fmt::format("samples: up to {} of the results file, and {} of rank 0's memory\n",
                           format_bytes(samples), format_bytes(sample_bytes(options, ranks)));
    }

    Schema schema() const override {
        static const std::vector<Column> columns = echo_columns();
        static const std::vector<SampleColumn> kept = echo_samples();
        return {.workload = kRow.name,
                .subject = "round trips",
                .columns = columns,
                .samples = kept,
                .replicate = Replicate::launch,
                .summarise = [](const Samples& samples, const Layout&, Bytes, const SummaryRules& rules) {
                    return summarise_echo(samples, rules);
                }};
    }
    std::unique_ptr<Flow> flow(const EngineParts& parts) const override { return make_echo(parts); }
    Duration duration_of(const Options& options, const Point&) const override {
        return {.length = own(options).duration.value_or(kDay),
                .tick = kTick,
                .ends_by_number = !own(options).duration};
    }
    int most_ticks(const Options& options, int ranks) const override {
        return static_cast<int>(std::min<std::int64_t>(most_trips(options, ranks), own(options).most_samples));
    }
    int most_buckets(const Options& options, int ranks) const override {
        Nanoseconds length = own(options).duration.value_or(kDay);
        if (options.time_budget) length = std::min(length, *options.time_budget);
        const std::int64_t most = most_buckets_in(length, own(options), ranks);
        return static_cast<int>(std::min(most_trips(options, ranks), most));
    }

protected:
    double seconds_of(const Options& options, Bytes message_size) const override {
        const EchoOptions& asked = own(options);
        const double trip =
            2 * kSecondsPerMessage + static_cast<double>(message_size + asked.request_size) / kBytesPerSecond;
        return asked.duration ? static_cast<double>(*asked.duration) * 1e-9 : options.ops * trip;
    }
    std::unique_ptr<DurationTable> table(const Launch& launch) const override {
        const EchoOptions& asked = own(launch.options());
        return make_echo_table(launch.options().format, {.ranks = counted(launch.job().layout().ranks(), "rank"),
                                                         .nodes = counted(launch.job().layout().nodes(), "node"),
                                                         .provider = launch.prepared().provider(),
                                                         .request_size = asked.request_size,
                                                         .most_samples = asked.most_samples,
                                                         .tells_memory = launch.options().memories.size() > 1});
    }
};

} // namespace

const Workload& echo() {
    static const EchoWorkload row;
    return row;
}

} // namespace a2aperf
