// SPDX-License-Identifier: BSD-3-Clause
// Round trips: some ranks send requests to others, which answer them.
#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "a2aperf/base/error.hpp"
#include "a2aperf/config/values.hpp"
#include "a2aperf/measure/echo_engine.hpp"
#include "a2aperf/measure/mode_table.hpp"
#include "a2aperf/plan/echo_plan.hpp"
#include "a2aperf/plan/size_list.hpp"
#include "a2aperf/stats/round_trips.hpp"
#include "echo_columns.hpp"
#include "estimate.hpp"
#include "launch.hpp"
#include "round_trip_columns.hpp"
#include "round_trip_table.hpp"
#include "round_trip_workload.hpp"

namespace a2aperf {
namespace {

constexpr std::string_view kIntroduction =
    "a2aperf echo measures round trips: a client sends a request to its server, which sends an\n"
    "answer of each of the sizes. The time of every round trip is taken, as the client sees it:\n"
    "the table has its percentiles, and the bandwidth of the answers. The file also has the way\n"
    "there and the way back apart, where the clocks of both ends carry them.\n";

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
    kPairsRow,
    kClientsRow,
    kServersRow,
    {.name = "request",
     .value = "SIZE",
     .section = Section::what,
     .audience = Audience::daily,
     .example = "1KiB",
     .help = "size of a request (default: 30 B)",
     .set = [](Options& o, Values v,
               const Catalogue&) { round_trip_options(o).request_size = parse_request(v[0]); }},
    outstanding_row("1,2,4", "requests of a client to one server that may be under way at once (default: 1)"),
    {.name = "duration",
     .value = "TIME",
     .section = Section::how_long,
     .audience = Audience::daily,
     .exclusive = "ops",
     .example = "200ms",
     .help = "instead of --ops: time that each point is measured",
     .set =
         [](Options& o, Values v, const Catalogue&) {
             round_trip_options(o).duration = parse_positive_duration(v[0]);
             o.ops = 1; // of its file: a point is not made of so many
         }},
    kKeptTripsRow,
};

constexpr std::string_view kTakes[] = {"ops", "time-budget"};

void set_defaults(Options& options) {
    options.least_size = 0;
    options.sizes = parse_sizes("100,1KiB,10KiB,100KiB,1MiB");
    options.ops = 10'000;
    options.warmup = 0;
    options.with_sentinel = false;
    RoundTripOptions own;
    own.request_size = 30;
    options.own = std::move(own);
}

void check(const Options& options) {
    constexpr Format kFormats[] = {Format::table, Format::clusterperf, Format::csv, Format::json};
    check_round_trips(options, kFormats, "table, clusterperf, csv, json");
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

class EchoWorkload final : public RoundTripWorkload {
public:
    const WorkloadRow& row() const override { return kRow; }

    std::optional<std::string> trouble(const Offer& offer, const Point& point) const override {
        return echo_trouble(offer, point);
    }

    Plan plan(const Options& options, const Layout& layout, const Skip& skip) const override {
        const RoundTripOptions& asked = round_trip_options(options);
        const StreamPairs pairs = pairs_of(asked);
        EchoPlan echo;
        echo.pairs = pairs.text();
        echo.who = pairs.of(layout.ranks());
        echo.duration = asked.duration.value_or(0);
        echo.messages = asked.duration ? -1 : options.ops;
        echo.request_size = asked.request_size;
        return plan_of(options, [&](Plan& plan, Point point, int outstanding) {
            echo.outstanding = outstanding;
            point.flow = std::make_shared<EchoPlan>(echo);
            add(plan, std::move(point), skip);
        });
    }

    Schema schema() const override {
        static const std::vector<Column> columns = echo_columns();
        static const std::vector<SampleColumn> kept = echo_samples();
        return schema_of(kRow, "round trips", columns, kept);
    }
    Duration duration_of(const Options& options, const Point&) const override {
        const RoundTripOptions& asked = round_trip_options(options);
        return {.length = asked.duration.value_or(kDay), .tick = kTick, .ends_by_number = !asked.duration};
    }

    // Rank 0 may be a server.
    Bytes sample_bytes(const Options& options, int ranks) const override {
        return RoundTripWorkload::sample_bytes(options, ranks) + served_bytes(options, ranks);
    }
    std::string own_room(const Plan& plan, const Options& options, const Layout& layout) const override {
        return RoundTripWorkload::own_room(plan, options, layout) +
               fmt::format("what servers note: up to {} of the memory of one\n",
                           format_bytes(served_bytes(options, layout.ranks())));
    }

protected:
    std::int64_t most_trips(const Options& options, int ranks) const override {
        const RoundTripOptions& asked = round_trip_options(options);
        if (asked.duration) return std::numeric_limits<std::int64_t>::max();
        return std::int64_t{options.ops} * most_servers(pairs_of(asked).of(ranks));
    }

    // The places of a client are under way for as long as a point lasts, but what was sent before its end has its
    // answer behind it, and the end is not seen at once.
    std::int64_t most_buckets_in(Nanoseconds length, const Options& options, int ranks) const override {
        constexpr int kBehindItsEnd = 4096;
        constexpr std::int64_t kAll = TimeHistogram::kBuckets;
        const RoundTripOptions& asked = round_trip_options(options);
        const std::int64_t places = std::int64_t{std::ranges::max(asked.outstanding)} *
                                    std::max(most_servers(pairs_of(asked).of(ranks)), 1);
        if (length > std::numeric_limits<Nanoseconds>::max() / places) return kAll;
        return std::min(kAll, std::int64_t{a2aperf::most_buckets(places * length)} + places + kBehindItsEnd);
    }

    // What is fetched goes three ways, one after the other: the word that tells of it, the read and the message.
    double seconds_of(const Options& options, const Point& point) const override {
        const RoundTripOptions& asked = round_trip_options(options);
        const int ways = find_mode(point.mode).initiator == Initiator::receiver ? 3 : 1;
        const auto bytes = static_cast<double>(point.message_size + asked.request_size);
        const double trip = 2 * ways * kSecondsPerMessage + bytes / kBytesPerSecond;
        return asked.duration ? static_cast<double>(*asked.duration) * 1e-9 : options.ops * trip;
    }
    // A server has its clients' requests, and those of the one that it tells of them once more.
    Bytes served_bytes(const Options& options, int ranks) const {
        constexpr Bytes kTold = 2 * sizeof(Nanoseconds), kEach = kTold + 1;
        const RoundTripOptions& asked = round_trip_options(options);
        const auto clients = static_cast<Bytes>(most_clients(pairs_of(asked).of(ranks)));
        const auto kept = static_cast<Bytes>(most_ticks(options, ranks));
        return (clients * kEach + kTold) * (kept + static_cast<Bytes>(std::ranges::max(asked.outstanding)));
    }
    std::unique_ptr<DurationTable> table(const Launch& launch) const override {
        return make_echo_table(launch.options().format, setting_of(launch));
    }
};

} // namespace

const Workload& echo() {
    static const EchoWorkload row;
    return row;
}

} // namespace a2aperf
