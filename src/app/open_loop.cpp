// SPDX-License-Identifier: BSD-3-Clause
// An open loop: messages are due at a rate, whatever becomes of those before them, and their time counts from then
// on.
#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "a2aperf/base/error.hpp"
#include "a2aperf/config/values.hpp"
#include "a2aperf/measure/flow_modes.hpp"
#include "a2aperf/plan/open_loop_plan.hpp"
#include "a2aperf/plan/rate_list.hpp"
#include "a2aperf/plan/size_list.hpp"
#include "launch.hpp"
#include "open_loop_columns.hpp"
#include "round_trip_workload.hpp"

namespace a2aperf {
namespace {

constexpr int kMostMessages = 2'000'000'000;
constexpr Nanoseconds kSecond = 1'000'000'000;

constexpr std::string_view kIntroduction =
    "a2aperf open-loop measures latency at a rate: messages to a server are due at fixed moments,\n"
    "whether or not those before them are back, and each is answered by one of the same size. The\n"
    "time of a round trip counts from the moment when its message was due, not from when it was\n"
    "sent: a pause of the fabric counts for all messages that were due in it.\n";

// test/cli runs each of them.
constexpr std::string_view kExamples =
    "Examples\n"
    "  mpirun -n 2 a2aperf open-loop --sizes 8,1KiB\n"
    "      10000 messages of two sizes, due evenly in one second\n"
    "  mpirun -n 2 a2aperf open-loop --sizes 64 --rates 1k..32k*2 --duration 200ms\n"
    "      latency against the rate that is offered\n"
    "  mpirun -n 2 a2aperf open-loop --sizes 64 --rate 10k --arrivals poisson --messages 2000\n"
    "      a number of messages, due at random moments that --seed decides\n"
    "  mpirun -n 3 a2aperf open-loop --servers 1 --sizes 64 --messages 1000\n"
    "      two clients with one server\n"
    "  mpirun -n 3 a2aperf open-loop --relays 1 --sizes 64 --rate 1k --messages 500\n"
    "      over a relay, whose own time is told apart\n"
    "  a2aperf open-loop --dry-run --ranks 320 --ranks-per-node 4\n"
    "      what a large run would need, without running it\n";

constexpr std::string_view kFarewell = "More\n"
                                       "  a2aperf open-loop --help-all    every option\n"
                                       "  a2a --help                      analyse the files: tables, findings\n";

using Values = std::span<const std::string>;

constexpr OptionRow kOptions[] = {
    kPairsRow,
    kClientsRow,
    kServersRow,
    {.name = "rates",
     .alias = "--rate",
     .value = "LIST",
     .section = Section::what,
     .arity = Arity::several,
     .audience = Audience::daily,
     .example = "1k..1M*2",
     .help = "messages that are due per second, of each client to each of its servers: 10000, 10k, 1k..10k+1k, "
             "1k..1M*2, or several of these with commas (default: 10k)",
     .set =
         [](Options& o, Values v, const Catalogue&) {
             round_trip_options(o).rates = parse_rates(fmt::format("{}", fmt::join(v, ",")));
         }},
    {.name = "arrivals",
     .value = "WHICH",
     .section = Section::what,
     .audience = Audience::daily,
     .example = "poisson",
     .help = "when they are due: even, or poisson, at random moments drawn from --seed (default: even)",
     .set =
         [](Options& o, Values v, const Catalogue&) {
             round_trip_options(o).arrivals =
                 choose<Arrivals>("arrivals", v[0], {{"even", Arrivals::even}, {"poisson", Arrivals::poisson}});
         }},
    {.name = "relays",
     .alias = "--relay",
     .value = "N",
     .section = Section::what,
     .audience = Audience::daily,
     .example = "1",
     .help =
         "the last N ranks are neither clients nor servers: messages and answers of pair p go over relay p mod N "
         "(default: 0)",
     .set = [](Options& o, Values v,
               const Catalogue&) { round_trip_options(o).relays = parse_int(v[0], 0, kMostRanks); }},
    {.name = "relay-time",
     .value = "TIME",
     .section = Section::what,
     .example = "1ms",
     .help =
         "time for which a relay serves each message, one after the other, before it sends it on (default: none)",
     .set = [](Options& o, Values v,
               const Catalogue&) { round_trip_options(o).relay_time = parse_positive_duration(v[0]); }},
    outstanding_row("1,64", "messages to one server that may be without an answer; one that is due beyond them "
                            "waits, and its time counts (default: 64)"),
    {.name = "duration",
     .value = "TIME",
     .section = Section::how_long,
     .audience = Audience::daily,
     .exclusive = "length",
     .example = "200ms",
     .help = "time that each point is measured (default: 1s)",
     .set = [](Options& o, Values v,
               const Catalogue&) { round_trip_options(o).duration = parse_positive_duration(v[0]); }},
    {.name = "messages",
     .value = "N",
     .section = Section::how_long,
     .audience = Audience::daily,
     .exclusive = "length",
     .example = "10000",
     .help = "instead of --duration: messages of a client to each of its servers",
     .set = [](Options& o, Values v,
               const Catalogue&) { round_trip_options(o).messages = parse_int(v[0], 1, kMostMessages); }},
    kKeptTripsRow,
};

constexpr std::string_view kTakes[] = {"time-budget"};

void set_defaults(Options& options) {
    options.least_size = 0;
    options.sizes = parse_sizes("8..32KiB*2");
    options.ops = 1; // of its file: a point is not made of so many
    options.warmup = 0;
    options.with_sentinel = false;
    RoundTripOptions own;
    own.outstanding = {kMostOutstanding};
    own.duration = kSecond;
    own.rates = parse_rates("10k");
    options.own = std::move(own);
}

void check(const Options& options) {
    constexpr Format kFormats[] = {Format::table, Format::csv, Format::json};
    check_round_trips(options, kFormats, "table, csv, json");
    require_flow_modes(options, PostedModes::kNames);
    const RoundTripOptions& asked = round_trip_options(options);
    if (asked.relay_time > 0 && asked.relays == 0)
        throw UsageError("--relay-time: there is no relay; --relays says how many, for example --relays 1");
}

constexpr WorkloadRow kRow{
    .name = "open-loop",
    .purpose = "measures latency at a rate",
    .usage = "messages that are due at a rate",
    .takes = kTakes,
    .options = kOptions,
    .page = {.introduction = kIntroduction,
             .examples = kExamples,
             .farewell = kFarewell,
             .sizes = "8..32KiB*2",
             .formats = "table, csv or json",
             .modes = PostedModes::kNames},
    .set_defaults = set_defaults,
    .check = check,
};

// Of the ranks that are no relays.
std::vector<StreamPair> pairs_beside(const RoundTripOptions& asked, int ranks) {
    if (asked.relays > 0 && ranks - asked.relays < 2)
        throw UsageError(fmt::format("--relays {}: a client and a server are needed beside them, and there are {}",
                                     asked.relays, counted(ranks, "rank")));
    try {
        return pairs_of(asked).of(ranks - asked.relays);
    } catch (const UsageError& error) {
        if (asked.relays == 0) throw;
        throw UsageError(fmt::format("--relays {} leaves {}: {}", asked.relays,
                                     counted(ranks - asked.relays, "rank"), error.what()));
    }
}

class OpenLoopWorkload final : public RoundTripWorkload {
public:
    const WorkloadRow& row() const override { return kRow; }

    Plan plan(const Options& options, const Layout& layout, const Skip& skip) const override {
        const RoundTripOptions& asked = round_trip_options(options);
        OpenLoopPlan loop;
        loop.pairs = pairs_of(asked).text();
        loop.relays = asked.relays;
        loop.relay_time = asked.relay_time;
        loop.first_relay = std::max(layout.ranks() - asked.relays, 0);
        loop.who = pairs_beside(asked, layout.ranks());
        loop.require_relays();
        loop.duration = asked.messages ? 0 : *asked.duration;
        loop.messages = asked.messages.value_or(-1);
        loop.arrivals = asked.arrivals;
        return plan_of(options, [&](Plan& plan, Point point, int outstanding) {
            loop.outstanding = outstanding;
            loop.request_size = point.message_size;
            for (const std::int64_t rate : asked.rates) {
                loop.rate = rate;
                point.flow = std::make_shared<OpenLoopPlan>(loop);
                add(plan, point, skip);
            }
        });
    }

    Schema schema() const override {
        static const std::vector<Column> columns = open_loop_columns();
        static const std::vector<SampleColumn> kept = open_loop_samples();
        return schema_of(kRow, "round trips at a rate", columns, kept);
    }
    Duration duration_of(const Options& options, const Point&) const override {
        const RoundTripOptions& asked = round_trip_options(options);
        return {.length = asked.messages ? kDay : *asked.duration,
                .tick = kTick,
                .ends_by_number = asked.messages.has_value()};
    }

protected:
    // Of Poisson's as many as come once in more points than anyone measures.
    std::int64_t most_trips(const Options& options, int ranks) const override {
        constexpr double kDeviations = 12;
        const RoundTripOptions& asked = round_trip_options(options);
        const std::vector<StreamPair> pairs = pairs_beside(asked, ranks);
        int servers = most_servers(pairs);
        if (asked.relays > 0) // a relay has those of several clients
            servers = std::max(servers, static_cast<int>((std::ssize(pairs) + asked.relays - 1) / asked.relays));
        if (asked.messages) return std::int64_t{*asked.messages} * servers;
        const double mean = static_cast<double>(std::ranges::max(asked.rates)) *
                            static_cast<double>(*asked.duration) * 1e-9 * servers;
        const double more =
            asked.arrivals == Arrivals::even ? servers : kDeviations * (std::sqrt(mean) + kDeviations);
        return static_cast<std::int64_t>(std::ceil(mean + more));
    }

    // Those that wait for their turn may take any time.
    std::int64_t most_buckets_in(Nanoseconds, const Options&, int) const override {
        return TimeHistogram::kBuckets;
    }

    double seconds_of(const Options& options, const Point&) const override {
        const RoundTripOptions& asked = round_trip_options(options);
        if (!asked.messages) return static_cast<double>(*asked.duration) * 1e-9;
        double seconds = 0;
        for (const std::int64_t rate : asked.rates) seconds += *asked.messages / static_cast<double>(rate);
        return seconds / static_cast<double>(asked.rates.size());
    }
    std::unique_ptr<DurationTable> table(const Launch& launch) const override {
        return make_open_loop_table(setting_of(launch));
    }
};

} // namespace

const Workload& open_loop() {
    static const OpenLoopWorkload row;
    return row;
}

} // namespace a2aperf
