// SPDX-License-Identifier: BSD-3-Clause
// Streams: each of some ranks sends to one other without a pause, for a duration.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include <fmt/format.h>

#include "a2aperf/base/error.hpp"
#include "a2aperf/fabric/nic.hpp"
#include "a2aperf/measure/credit_stream.hpp"
#include "a2aperf/measure/stream_trouble.hpp"
#include "a2aperf/plan/size_list.hpp"
#include "a2aperf/plan/stream_plan.hpp"
#include "a2aperf/stats/carried.hpp"
#include "estimate.hpp"
#include "launch.hpp"
#include "stream_options.hpp"
#include "stream_table.hpp"

namespace a2aperf {
namespace {

constexpr std::string_view kIntroduction =
    "a2aperf stream measures what one rank can send to another without a pause: message rate,\n"
    "bandwidth, and how long the sender waits for a buffer of the receiver. As many messages\n"
    "as the window are under way; the receiver returns a credit when it has freed a buffer.\n";

// test/cli runs each of them.
constexpr std::string_view kExamples =
    "Examples\n"
    "  mpirun -n 2 a2aperf stream --sizes 8,64KiB --duration 200ms\n"
    "      one pair, two sizes, 200 ms each, over the best provider available\n"
    "  mpirun -n 4 a2aperf stream --pairs neighbours --sizes 1KiB --window 1,32\n"
    "      two pairs at once, with one message under way and with 32, a second each\n"
    "  mpirun -n 2 a2aperf stream --sizes 4KiB --messages 1000 --mode tagged,msg -o msg.h5\n"
    "      a number of messages, by tag and without, into a file of that name\n"
    "  a2aperf stream --dry-run --ranks 320 --ranks-per-node 4\n"
    "      what a large run would need, without running it\n";

constexpr std::string_view kFarewell = "More\n"
                                       "  a2aperf stream --help-all    every option\n"
                                       "  a2a --help                   analyse the files: tables, findings\n";

constexpr std::string_view kTakes[] = {"window", "time-budget"};

void set_defaults(Options& options) {
    options.least_size = 0;
    options.sizes = parse_sizes("0,1..16MiB*2", options.least_size);
    options.windows = {{.messages = 32}};
    options.ops = 1;
    options.warmup = 0;
    options.with_sentinel = false;
    options.own = StreamOptions{};
}

const WorkloadRow kRow{
    .name = "stream",
    .purpose = "measures one pair",
    .usage = "streams between pairs of ranks",
    .takes = kTakes,
    .options = stream_option_rows(),
    .page = {.introduction = kIntroduction,
             .examples = kExamples,
             .farewell = kFarewell,
             .sizes = "0 B and the 25 powers of two from 1 B to 16 MiB",
             .formats = "table, loopback (as published), csv or json"},
    .set_defaults = set_defaults,
    .check = check_stream_options,
};

// What the samples tell, of one duration.

std::int64_t total(const Samples& samples, std::string_view column) {
    const auto& values = samples.own.at(column);
    return std::accumulate(values.begin(), values.end(), std::int64_t{0});
}

double messages_of(const Samples& samples, const Point&, const Layout&) {
    return static_cast<double>(total(samples, "messages_received"));
}

double bytes_of(const Samples& samples, const Point& point, const Layout& layout) {
    return messages_of(samples, point, layout) * static_cast<double>(point.message_size);
}

// From the first message that was started to the last that came, as far as the start carries it.
double time_of(const Samples& samples, const Point& point, const Layout&) {
    Nanoseconds first = std::numeric_limits<Nanoseconds>::max();
    Nanoseconds last = 0;
    for (const StreamPair& pair : point.flow->who) {
        first = std::min(first, samples.begin[static_cast<std::size_t>(pair.from)]);
        last = std::max(last, samples.recv_done[static_cast<std::size_t>(pair.to)]);
    }
    const auto& received = samples.own.at("messages_received");
    return carried_time(static_cast<double>(last - first), samples.clock_error_ns,
                        *std::max_element(received.begin(), received.end()));
}

double per_second(double amount, double time_ns) {
    return amount / time_ns * 1e9;
}

double longest_wait_of(const Samples& samples, const Point&, const Layout&) {
    const auto& waits = samples.own.at("rank_longest_wait");
    return static_cast<double>(*std::max_element(waits.begin(), waits.end()));
}

// Names and units are those of imported streams.
std::vector<Column> stream_columns() {
    const auto rate = [](auto amount) {
        return [amount](const Samples& s, const Point& p, const Layout& l) {
            return per_second(amount(s, p, l), time_of(s, p, l));
        };
    };
    const auto gbps = [](const Samples& s, const Point& p, const Layout& l) {
        return per_second(bytes_of(s, p, l) * 8e-9, time_of(s, p, l));
    };
    return columns_of_durations(
        {asked_column("stream_pairs", ValueType::text, "", "who sends to whom",
                      [](const Point& p) { return p.flow->pairs; }),
         asked_column("duplex", ValueType::text, "", "whether each pair sends in both directions",
                      [](const Point& p) { return std::string(stream_of(p).is_duplex ? "both ways" : "one way"); }),
         asked_column("free_delay", ValueType::int64, "ns", "pause of the receiver before it frees",
                      [](const Point& p) { return std::int64_t{stream_of(p).free_delay.time}; }),
         asked_column(
             "free_every", ValueType::int64, "", "messages from one pause to the next",
             [](const Point& p) { return stream_of(p).free_delay.time > 0 ? stream_of(p).free_delay.every : -1; }),
         asked_column("asked_inject", ValueType::text, "", "whether messages were to go by the inject path",
                      [](const Point& p) { return std::string(to_string(stream_of(p).inject)); }),
         asked_column("completion", ValueType::text, "", "what the completion of a send was asked to mean",
                      [](const Point& p) { return std::string(to_string(stream_of(p).completion)); }),
         asked_column("cq_mod", ValueType::int64, "", "messages of which one asked for the completion of its send",
                      [](const Point& p) { return std::int64_t{stream_of(p).cq_mod}; }),
         asked_column("threads", ValueType::text, "",
                      "both ends of a rank in one thread, or each in one of its own",
                      [](const Point& p) { return std::string(to_string(stream_of(p).threads)); }),
         asked_column("traced", ValueType::text, "", "whether an interval ends whenever messages were sent or came",
                      [](const Point& p) { return std::string(stream_of(p).traces ? "yes" : "no"); }),
         asked_column("asked_duration", ValueType::int64, "ns", "time that the point was to be measured",
                      [](const Point& p) { return std::int64_t{p.flow->messages < 0 ? p.flow->duration : -1}; }),
         asked_column("asked_messages", ValueType::int64, "", "messages of each stream that were to be sent",
                      [](const Point& p) { return p.flow->messages; }),
         memory_column(),
         whole_column(
             {"stream_time",
              "ns",
              "duration of the stream; absent, with its rates, where it is not above clock_error or leaves a "
              "rank no more than 1 ns for a message",
              Better::none,
              {},
              time_of}),
         whole_column({"messages", "", "messages received", Better::none, {}, messages_of}),
         whole_column({"bytes", "B", "bytes of payload received", Better::none, {}, bytes_of}),
         column_of({"msg_rate", "1/s", "messages per second, all ranks", Better::higher, {}, rate(messages_of)}),
         column_of({"byte_rate", "B/s", "payload per second", Better::higher, {}, rate(bytes_of)}),
         column_of({"gbps", "Gbit/s", "payload per second", Better::higher, {}, gbps}),
         whole_column({"longest_wait",
                       "ns",
                       "longest wait of the sender for a buffer",
                       Better::none,
                       {},
                       longest_wait_of})});
}

std::vector<SampleColumn> stream_samples() {
    return samples_with(
        {{.name = "messages_sent", .long_name = "messages that the rank has sent"},
         {.name = "messages_received", .long_name = "messages that have come to the rank"},
         {.name = "rank_longest_wait", .units = "ns", .long_name = "longest wait of the rank for a buffer"},
         {.name = "tick_end", .per = Per::tick, .units = "ns", .long_name = "end of the interval, from the start"},
         {.name = "tick_sent", .per = Per::tick, .long_name = "messages that the rank sent in the interval"},
         {.name = "tick_received",
          .per = Per::tick,
          .long_name = "messages that came to the rank in the interval"}});
}

// Each of these with each of the values.
template <class Value>
std::vector<StreamPlan> with_each(const std::vector<StreamPlan>& streams, const std::vector<Value>& values,
                                  Value StreamPlan::*member) {
    std::vector<StreamPlan> all;
    for (const Value& value : values)
        for (const StreamPlan& stream : streams) all.emplace_back(stream).*member = value;
    return all;
}

int channels_of(Threads threads) {
    return threads == Threads::each ? 2 : 1;
}

// In the order of the plan.
std::vector<StreamPlan> streams_of(const Options& options, int ranks) {
    const StreamOptions& asked = stream_options(options);
    StreamPlan first;
    first.pairs = asked.pairs.text();
    first.who = asked.pairs.of(ranks, asked.is_duplex);
    first.is_duplex = asked.is_duplex;
    first.duration = asked.duration;
    first.messages = asked.messages.value_or(-1);
    first.traces = asked.traces;
    std::vector<StreamPlan> streams{first};
    streams = with_each(streams, asked.free_delays, &StreamPlan::free_delay);
    streams = with_each(streams, asked.injects, &StreamPlan::inject);
    streams = with_each(streams, asked.cq_mods, &StreamPlan::cq_mod);
    streams = with_each(streams, asked.threads, &StreamPlan::threads);
    return with_each(streams, asked.completions, &StreamPlan::completion);
}

class StreamWorkload final : public DurationWorkload {
public:
    const WorkloadRow& row() const override { return kRow; }
    std::string_view demands() const override { return "a stream needs"; }
    int least_ranks(const Options& options) const override {
        return stream_options(options).pairs.is_loopback() ? 1 : 2;
    }

    std::string nic_of(const Options& options, Rank rank, int ranks) const override {
        const StreamOptions& asked = stream_options(options);
        if (asked.from.empty() && asked.to.empty()) return options.nic;
        if (names_several_nics(options.nic))
            throw UsageError(
                fmt::format("--nic {}: beside --from or --to it is one adapter, of the others", options.nic));
        std::set<Rank> senders;
        std::set<Rank> receivers;
        for (const StreamPair& pair : asked.pairs.of(ranks, asked.is_duplex)) {
            senders.insert(pair.from);
            receivers.insert(pair.to);
        }
        for (const Rank sender : senders) // on all ranks alike
            if (receivers.contains(sender))
                throw UsageError(fmt::format("--from, --to: rank {} sends and receives, and has one adapter: take "
                                             "two ranks of a node, as in --pairs 0:1",
                                             sender));
        const std::string own = senders.contains(rank)     ? asked.from
                                : receivers.contains(rank) ? asked.to
                                                           : std::string();
        return own.empty() ? options.nic : own;
    }

    int most_channels(const Options& options) const override {
        int most = 1;
        for (const Threads threads : stream_options(options).threads) most = std::max(most, channels_of(threads));
        return most;
    }

    std::map<std::string, std::string> asked_names(const Options& options) const override {
        const StreamOptions& asked = stream_options(options);
        return {{"asked_from", asked.from}, {"asked_to", asked.to}};
    }

    std::optional<std::string> trouble(const Offer& offer, const Point& point) const override {
        return stream_trouble(offer, point);
    }

    Plan plan(const Options& options, const Layout& layout, const Skip& skip) const override {
        Plan plan;
        for (const std::string& mode : options.modes)
            for (const StreamPlan& stream : streams_of(options, layout.ranks()))
                for (const std::string& memory : options.memories)
                    for (const Window& window : options.windows)
                        for (const Bytes size : options.sizes) {
                            Point point;
                            point.mode = mode;
                            point.memory = memory;
                            point.window = window.messages;
                            point.message_size = size;
                            point.flow = std::make_shared<StreamPlan>(stream);
                            point.channels = channels_of(stream.threads);
                            add(plan, std::move(point), skip);
                        }
        put_in_order(plan, options);
        return plan;
    }

    Schema schema() const override {
        static const std::vector<Column> columns = stream_columns();
        static const std::vector<SampleColumn> kept = stream_samples();
        return {.workload = kRow.name,
                .subject = "streams",
                .columns = columns,
                .samples = kept,
                .replicate = Replicate::launch,
                .summarise = [](const Samples& samples, const Layout&, Bytes, const SummaryRules& rules) {
                    return summarise_times(samples, rules);
                }};
    }
    std::unique_ptr<Flow> flow(const EngineParts& parts) const override { return make_stream(parts); }
    Duration duration_of(const Options& options, const Point&) const override {
        return {.length = stream_options(options).messages ? kDay : stream_options(options).duration,
                .tick = kTick,
                .ends_by_number = stream_options(options).messages.has_value(),
                .traces = stream_options(options).traces};
    }
    int most_ticks(const Options& options, int) const override {
        Duration longest = duration_of(options, Point());
        if (options.time_budget) longest.length = std::min(longest.length, *options.time_budget);
        longest.most_samples = static_cast<std::size_t>(stream_options(options).samples()) + 1; // and the end
        return static_cast<int>(longest.samples());
    }

protected:
    double seconds_of(const Options& options, const Point& point) const override {
        const StreamOptions& asked = stream_options(options);
        const double message = kSecondsPerMessage + static_cast<double>(point.message_size) / kBytesPerSecond;
        return asked.messages ? *asked.messages * message : static_cast<double>(asked.duration) * 1e-9;
    }
    // Of the receiver with most messages. A duration ends in a pause as it does at any time.
    double seconds_of_pauses(const Options& options, const Point& point) const override {
        if (!stream_options(options).messages) return 0;
        const StreamPlan& stream = stream_of(point);
        std::map<Rank, std::int64_t> streams_to;
        std::int64_t most = 0;
        for (const StreamPair& pair : stream.who) most = std::max(most, ++streams_to[pair.to]);
        const double pauses = std::floor(static_cast<double>(most) * static_cast<double>(stream.messages) /
                                         static_cast<double>(stream.free_delay.every));
        return pauses * static_cast<double>(stream.free_delay.time) * 1e-9;
    }
    std::unique_ptr<DurationTable> table(const Launch& launch) const override {
        return std::make_unique<StreamTable>(launch.options().format, launch.job().layout(),
                                             launch.prepared().provider(), launch.plan());
    }
};

} // namespace

const Workload& stream() {
    static const StreamWorkload row;
    return row;
}

} // namespace a2aperf
