// SPDX-License-Identifier: BSD-3-Clause
// Interference: what messages of some ranks do to what others measure.
#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "a2aperf/base/error.hpp"
#include "a2aperf/measure/flow_modes.hpp"
#include "a2aperf/measure/interference.hpp"
#include "a2aperf/plan/size_list.hpp"
#include "interference_columns.hpp"
#include "interference_options.hpp"
#include "interference_table.hpp"
#include "launch.hpp"

namespace a2aperf {
namespace {

constexpr Nanoseconds kLook = 100'000'000; // for signals and for other ranks
constexpr Bytes kRequest = 30;

constexpr std::string_view kIntroduction =
    "a2aperf interference measures what a load does to others: some ranks, the victims, make round\n"
    "trips, a stream or an all-to-all, and all others send messages among themselves, in phases:\n"
    "without load and with it, in alternation. Impact is the victims' time under load as a multiple\n"
    "of that without.\n";

// test/cli runs each of them.
constexpr std::string_view kExamples =
    "Examples\n"
    "  mpirun -n 4 a2aperf interference --phase 20ms --alternations 6\n"
    "      round trips between ranks 0 and 1, and 2 and 3 load them, at three levels\n"
    "  mpirun -n 5 a2aperf interference --load incast --levels 100 --phase 20ms --alternations 6\n"
    "      three ranks are the load: two of them send to the first\n"
    "  mpirun -n 4 a2aperf interference --victims 0:3 --sizes 64,64KiB --levels 50 --phase 20ms\n"
    "      answers of two sizes, between ranks of your choice\n"
    "  mpirun -n 4 a2aperf interference --victim-kind stream --load-class bulk --phase 20ms\n"
    "      a stream beside messages of a class of their own\n"
    "  mpirun -n 5 a2aperf interference --victims 0:1,1:2 --victim-kind all-to-all --phase 20ms\n"
    "      three ranks exchange messages, and two load them\n"
    "  a2aperf interference --dry-run --ranks 320 --ranks-per-node 4 --placement other\n"
    "      what a large run would need, without running it\n";

constexpr std::string_view kFarewell = "More\n"
                                       "  a2aperf interference --help-all    every option\n"
                                       "  a2a --help                         analyse the files: tables, findings\n";

void set_defaults(Options& options) {
    options.least_size = 0;
    options.sizes = {1024};
    options.ops = 1; // of its file: a point is not made of so many
    options.warmup = 0;
    options.with_sentinel = false;
    options.own = InterferenceOptions{};
}

const WorkloadRow kRow{
    .name = "interference",
    .purpose = "measures what a load does to others",
    .usage = "victims beside a load",
    .takes = {},
    .options = interference_option_rows(),
    .page = {.introduction = kIntroduction,
             .examples = kExamples,
             .farewell = kFarewell,
             .sizes = "1024 B, of the victims' answers or messages",
             .formats = "table, csv or json",
             .modes = PostedModes::kNames},
    .set_defaults = set_defaults,
    .check = check_interference_options,
};

// Of all ranks that are named.
std::vector<StreamPair> exchange_of(const std::vector<StreamPair>& named) {
    std::set<Rank> ranks;
    for (const StreamPair& pair : named) ranks.insert({pair.from, pair.to});
    return victim_pairs({ranks.begin(), ranks.end()}, VictimKind::all_to_all);
}

// Whoever asks and whoever answers do nothing else: a client that waits for its gap would answer late.
std::vector<StreamPair> listed_victims(const StreamPairs& asked, VictimKind kind, int ranks) {
    std::vector<StreamPair> pairs = asked.of(ranks);
    if (kind == VictimKind::all_to_all) return exchange_of(pairs);
    for (const StreamPair& pair : pairs)
        if (std::ranges::find(pairs, pair.from, &StreamPair::to) != pairs.end())
            throw UsageError(
                fmt::format("--victims: rank {} is a {}", pair.from,
                            kind == VictimKind::echo ? "client and a server" : "sender and a receiver"));
    return pairs;
}

// Of which a client notes each round trip; the samples of a stream are of all peers together.
int most_servers_of(const std::vector<StreamPair>& pairs, VictimKind kind) {
    std::ptrdiff_t most = 1;
    if (kind != VictimKind::echo) return 1;
    for (const StreamPair& pair : pairs)
        most = std::max(most, std::ranges::count(pairs, pair.from, &StreamPair::from));
    return static_cast<int>(most);
}

// Of a client in a point, at most: all are kept, and a rank has a row for each phase at least.
std::int64_t most_trips(const InterferenceOptions& asked, int servers) {
    return std::max<std::int64_t>(servers * (asked.phases.total() / asked.gap + 1), asked.phases.count());
}

void require_room(const InterferenceOptions& asked, const std::vector<StreamPair>& victims) {
    constexpr std::int64_t kMost = 1'000'000;
    const std::int64_t trips = most_trips(asked, most_servers_of(victims, asked.victim_kind));
    if (trips > kMost)
        throw UsageError(
            fmt::format("--phase, --alternations, --gap: a victim could have {} times in a point, and at most "
                        "{} are kept: make phases shorter or fewer, or the gap longer",
                        trips, kMost));
}

int window_of(const InterferenceOptions& asked, const std::vector<StreamPair>& victims) {
    switch (asked.victim_kind) {
    case VictimKind::echo:
        return 1;
    case VictimKind::stream:
        return asked.victim_window.value_or(8);
    case VictimKind::all_to_all: // of what comes to a rank
        return static_cast<int>(std::ranges::count(victims, victims.front().from, &StreamPair::to));
    }
    return 1;
}

InterferencePlan sides_plan(const InterferenceOptions& asked, const Layout& layout) {
    InterferencePlan plan;
    std::vector<Rank> load;
    if (asked.victims) {
        plan.victims = listed_victims(*asked.victims, asked.victim_kind, layout.ranks());
        plan.placement = "listed";
        const auto is_victim = [&](Rank rank) {
            return std::ranges::any_of(
                plan.victims, [rank](const StreamPair& pair) { return pair.from == rank || pair.to == rank; });
        };
        for (Rank rank = 0; rank < layout.ranks(); ++rank)
            if (!is_victim(rank)) load.push_back(rank);
        if (load.size() < 2)
            throw UsageError(fmt::format("--victims {} leaves {} of {} for the load, and it needs 2",
                                         asked.victims->text(), load.size(), counted(layout.ranks(), "rank")));
        plan.pairs = asked.victims->text();
    } else {
        const Placement placement = asked.placement.value_or(Placement::same);
        Sides sides = sides_of(layout, placement);
        plan.victims = victim_pairs(sides.victims, asked.victim_kind);
        plan.placement = to_string(placement);
        plan.pairs = plan.placement;
        load = std::move(sides.load);
    }
    require_room(asked, plan.victims);
    plan.kind = asked.victim_kind;
    plan.victim_window = window_of(asked, plan.victims);
    plan.load_class = asked.load_class;
    plan.pattern = asked.pattern;
    plan.load = load_pairs(load, asked.pattern);
    plan.who = plan.victims;
    plan.who.insert(plan.who.end(), plan.load.begin(), plan.load.end());
    plan.request_size = kRequest;
    plan.load_size = asked.load_size;
    plan.load_window = asked.load_window;
    plan.gap = asked.gap;
    plan.phases = asked.phases;
    plan.duration = asked.phases.total();
    return plan;
}

class InterferenceWorkload final : public DurationWorkload {
public:
    const WorkloadRow& row() const override { return kRow; }
    std::string_view demands() const override { return "victims and a load need"; }
    int least_ranks(const Options&) const override { return 4; }
    std::vector<Bytes> message_sizes(const Options& options, const Layout&) const override {
        std::vector<Bytes> sizes = options.sizes;
        sizes.push_back(interference_options(options).load_size);
        return sizes;
    }

    std::vector<TrafficClass> classes(const Options& options) const override {
        return {interference_options(options).load_class};
    }
    std::vector<TrafficClass> classes_of(const Options& options, const Layout& layout, Rank rank) const override {
        const InterferenceOptions& asked = interference_options(options);
        if (asked.load_class == TrafficClass{} || !sides_plan(asked, layout).is_load(rank)) return {};
        return {asked.load_class};
    }

    Plan plan(const Options& options, const Layout& layout, const Skip& skip) const override {
        const InterferenceOptions& asked = interference_options(options);
        InterferencePlan flow = sides_plan(asked, layout);
        Plan plan;
        for (const std::string& mode : options.modes)
            for (const std::string& memory : options.memories)
                for (const Bytes size : options.sizes)
                    for (const int level : asked.levels) {
                        flow.level = level;
                        Point point;
                        point.mode = mode;
                        point.memory = memory;
                        point.message_size = size;
                        point.flow = std::make_shared<InterferencePlan>(flow);
                        add(plan, std::move(point), skip);
                    }
        put_in_order(plan, options);
        return plan;
    }

    Schema schema() const override {
        static const std::vector<Column> columns = interference_columns();
        static const std::vector<SampleColumn> kept = interference_samples();
        return {.workload = kRow.name,
                .subject = "what victims measure beside a load",
                .columns = columns,
                .samples = kept,
                .replicate = Replicate::launch,
                .summarise = [](const Samples& samples, const Layout&, Bytes,
                                const SummaryRules& rules) { return summarise_interference(samples, rules); },
                .former_sample = "round_trip"};
    }
    std::unique_ptr<Flow> flow(const EngineParts& parts) const override { return make_interference(parts); }
    Duration duration_of(const Options& options, const Point&) const override {
        return {.length = interference_options(options).phases.total(),
                .tick = kTick,
                .may_starve = true,
                .look = kLook};
    }
    // Times of a victim, of all its servers, or the phases of a load rank.
    int most_ticks(const Options& options, int ranks) const override {
        const InterferenceOptions& asked = interference_options(options);
        const int servers = asked.victims ? most_servers_of(asked.victims->of(ranks), asked.victim_kind) : 1;
        return static_cast<int>(most_trips(asked, servers)); // require_room()
    }

protected:
    double seconds_of(const Options& options, const Point&) const override {
        return static_cast<double>(interference_options(options).phases.total()) * 1e-9;
    }
    std::unique_ptr<DurationTable> table(const Launch& launch) const override {
        const Layout& layout = launch.job().layout();
        return make_interference_table(
            fmt::format("{}, {} on {}", launch.prepared().provider(), counted(layout.ranks(), "rank"),
                        counted(layout.nodes(), "node")),
            interference_options(launch.options()).victim_kind, launch.options().memories.size() > 1);
    }
};

} // namespace

const Workload& interference() {
    static const InterferenceWorkload row;
    return row;
}

} // namespace a2aperf
