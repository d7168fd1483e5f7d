// SPDX-License-Identifier: BSD-3-Clause
#include "interference_columns.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <string>
#include <utility>

#include "a2aperf/base/utf8.hpp"
#include "a2aperf/measure/interference.hpp"
#include "a2aperf/plan/interference_plan.hpp"
#include "a2aperf/stats/impact.hpp"
#include "a2aperf/stats/round_trips.hpp"
#include "round_trip_columns.hpp"

namespace a2aperf {
namespace {

bool is_of(std::int64_t kind, SampleKind wanted) {
    return kind == static_cast<std::int64_t>(wanted);
}

// Times that count, of all victims together, by the phase in which they began.
std::vector<Alternation> alternations_of(const Samples& samples, const Point& point) {
    std::vector<Alternation> all(static_cast<std::size_t>(interference_of(point).phases.alternations));
    const auto& trips = samples.own.at("victim_time");
    const auto& phases = samples.own.at("sample_phase");
    const auto& kinds = samples.own.at("sample_kind");
    for (std::size_t i = 0; i < trips.size(); ++i) {
        // Called by a rank whose clock is ahead a victim may begin in the phase that is the load's alone.
        const bool is_loaded = is_of(kinds[i], SampleKind::loaded);
        if (trips[i] == kNoMoment || !(is_loaded || is_of(kinds[i], SampleKind::alone))) continue;
        Alternation& of = all.at(static_cast<std::size_t>(phases[i] - 1) / 2);
        (is_loaded ? of.loaded : of.alone).push_back(trips[i]);
    }
    return all;
}

enum class Part { alone, loaded, ratio, low, high };

double part_of(const Impact& impact, Part part) {
    switch (part) {
    case Part::alone:
        return impact.alone;
    case Part::loaded:
        return impact.loaded;
    case Part::ratio:
        return impact.ratio;
    case Part::low:
        return impact.interval ? impact.interval->low : kAbsent;
    case Part::high:
        return impact.interval ? impact.interval->high : kAbsent;
    }
    return kAbsent;
}

// 0: the mean.
template <int kPerMille>
double statistic(std::span<Nanoseconds> times) {
    return kPerMille == 0 ? mean_of_phase(times) : quantile_of_phase(times, kPerMille / 1000.0);
}

template <int kPerMille, Part kPart>
double impact_part(const Samples& samples, const Point& point, const Layout&) {
    std::vector<Alternation> alternations = alternations_of(samples, point);
    return part_of(impact_of(alternations, statistic<kPerMille>), kPart);
}

struct Description {
    std::string_view name, long_name;
};

// figures: of the mean, the median and two high percentiles.
template <Part kPart>
void add_impacts(std::vector<Column>& columns, std::string_view units, Better better,
                 const std::array<Description, 4>& figures) {
    constexpr std::array kOf{impact_part<0, kPart>, impact_part<500, kPart>, impact_part<990, kPart>,
                             impact_part<999, kPart>};
    for (std::size_t i = 0; i < figures.size(); ++i)
        columns.push_back(column_of({figures[i].name, units, figures[i].long_name, better, {}, kOf[i]}));
}

void add_impacts(std::vector<Column>& columns) {
    add_impacts<Part::alone>(
        columns, "ns", Better::lower,
        {{{"alone_mean", "mean time of a victim without load, over the phases"},
          {"alone_p50", "median time of a victim without load, over the phases"},
          {"alone_p99", "99th percentile of victims' times without load, over the phases"},
          {"alone_p999", "99.9th percentile of victims' times without load, over the phases"}}});
    add_impacts<Part::loaded>(
        columns, "ns", Better::lower,
        {{{"loaded_mean", "mean time of a victim under load, over the phases"},
          {"loaded_p50", "median time of a victim under load, over the phases"},
          {"loaded_p99", "99th percentile of victims' times under load, over the phases"},
          {"loaded_p999", "99.9th percentile of victims' times under load, over the phases"}}});
    add_impacts<Part::ratio>(
        columns, "", Better::lower,
        {{{"impact_mean", "mean time of a victim under load as a multiple of that without"},
          {"impact_p50", "median time of a victim under load as a multiple of that without"},
          {"impact_p99", "99th percentile of victims' times under load as a multiple of that without"},
          {"impact_p999", "99.9th percentile of victims' times under load as a multiple of that without"}}});
    add_impacts<Part::low>(
        columns, "", Better::none,
        {{{"impact_mean_low", "lower end of the 95 % interval of the mean's impact"},
          {"impact_p50_low", "lower end of the 95 % interval of the median's impact"},
          {"impact_p99_low", "lower end of the 95 % interval of the 99th percentile's impact"},
          {"impact_p999_low", "lower end of the 95 % interval of the 99.9th percentile's impact"}}});
    add_impacts<Part::high>(
        columns, "", Better::none,
        {{{"impact_mean_high", "upper end of the 95 % interval of the mean's impact"},
          {"impact_p50_high", "upper end of the 95 % interval of the median's impact"},
          {"impact_p99_high", "upper end of the 95 % interval of the 99th percentile's impact"},
          {"impact_p999_high", "upper end of the 95 % interval of the 99.9th percentile's impact"}}});
}

// Payload that came to all load ranks in the phases of a kind, per second of them; Gbit/s.
template <SampleKind kKind>
double load_gbps(const Samples& samples, const Point& point, const Layout&) {
    constexpr auto kOfLoad = static_cast<std::int64_t>(RankRole::load);
    const InterferencePlan& plan = interference_of(point);
    const auto& messages = samples.own.at("load_received");
    const auto& times = samples.own.at("load_time");
    const auto& kinds = samples.own.at("sample_kind");
    double rate = 0;
    std::int64_t rows = 0, ranks = 0;
    for (const std::int64_t role : samples.own.at("rank_role")) ranks += role == kOfLoad ? 1 : 0;
    for (std::size_t i = 0; i < times.size(); ++i) {
        if (times[i] == kNoMoment || !is_of(kinds[i], kKind)) continue;
        rate += static_cast<double>(messages[i]) * static_cast<double>(plan.load_size) * 8 /
                static_cast<double>(times[i]);
        ++rows;
    }
    return rows == 0 ? kAbsent : rate / static_cast<double>(rows) * static_cast<double>(ranks);
}

double counted_trips(const Samples& samples, const Point& point, bool is_loaded) {
    std::size_t count = 0;
    for (const Alternation& one : alternations_of(samples, point))
        count += is_loaded ? one.loaded.size() : one.alone.size();
    return static_cast<double>(count);
}

double silent_phases(const Samples& samples, const Point& point, const Layout&) {
    int count = 0;
    for (const Alternation& one : alternations_of(samples, point))
        count += static_cast<int>(one.alone.empty()) + static_cast<int>(one.loaded.empty());
    return count;
}

// NaN where no class was asked for.
double class_granted(const Samples& samples, const Point&, const Layout&) {
    double granted = kAbsent;
    for (const std::int64_t one : samples.own.at("class_granted"))
        if (one != kNoMoment)
            granted = std::isnan(granted) ? static_cast<double>(one) : std::min(granted, static_cast<double>(one));
    return granted;
}

// Of a point that was read from a file it stands in the place of rank 0.
Column class_trouble() {
    Column column;
    column.name = "load_class_trouble";
    column.kind = ValueType::fixed_text;
    column.long_name = "why a load rank was not granted its class";
    column.outcome = [](const PointResult& result) { return Value(load_trouble(result)); };
    column.restore = [](PointResult& result, const Value& value) { result.told = {std::get<std::string>(value)}; };
    return column;
}

double victim_gbps(const Samples& samples, const Point& point, const Layout&) {
    const InterferencePlan& plan = interference_of(point);
    std::vector<Alternation> alternations = alternations_of(samples, point);
    const double time = impact_of(alternations, statistic<500>).loaded;
    return plan.payload(point) * 8 / time;
}

std::vector<Column> asked_columns() {
    return {asked_column("victim_pairs", ValueType::text, "",
                         "which client asks which server, who sends to whom, or who takes part",
                         [](const Point& p) { return interference_of(p).victims_text(); }),
            asked_column("victim_kind", ValueType::text, "", "what victims do: echo, stream, all-to-all",
                         [](const Point& p) { return std::string(to_string(interference_of(p).kind)); }),
            asked_column("victim_window", ValueType::int32, "",
                         "messages that one of a victim's times is of: of a stream as many may be under way",
                         [](const Point& p) { return std::int64_t{interference_of(p).victim_window}; }),
            asked_column("placement", ValueType::text, "",
                         "where victims and load are: same, other, interleaved, listed",
                         [](const Point& p) { return interference_of(p).placement; }),
            asked_column("load_pattern", ValueType::text, "", "who of the load ranks sends to whom",
                         [](const Point& p) { return std::string(to_string(interference_of(p).pattern)); }),
            asked_column("load_level", ValueType::int32, "%", "share of its full rate that the load was to send",
                         [](const Point& p) { return std::int64_t{interference_of(p).level}; }),
            asked_column("load_size", ValueType::int64, "B", "bytes of a message of the load",
                         [](const Point& p) { return static_cast<std::int64_t>(interference_of(p).load_size); }),
            asked_column("load_window", ValueType::int32, "",
                         "messages from one load rank to another that may be under way",
                         [](const Point& p) { return std::int64_t{interference_of(p).load_window}; }),
            asked_column("load_class", ValueType::text, "", "class of service that was asked for the load",
                         [](const Point& p) { return interference_of(p).load_class.text(); }),
            asked_column("request_size", ValueType::int64, "B", "bytes of a request",
                         [](const Point& p) { return static_cast<std::int64_t>(interference_of(p).request_size); }),
            asked_column("request_gap", ValueType::int64, "ns", "time between two samples of a victim, at least",
                         [](const Point& p) { return std::int64_t{interference_of(p).gap}; }),
            asked_column("phase_length", ValueType::int64, "ns", "length of a phase",
                         [](const Point& p) { return std::int64_t{interference_of(p).phases.length}; }),
            asked_column("alternations", ValueType::int32, "", "phases of either kind",
                         [](const Point& p) { return std::int64_t{interference_of(p).phases.alternations}; }),
            memory_column()};
}

} // namespace

std::string load_trouble(const PointResult& result) {
    const auto why = std::ranges::find_if(result.told, [](const std::string& text) { return !text.empty(); });
    return why == result.told.end() ? std::string() : cut_utf8(*why, kFixedTextBytes);
}

std::vector<Column> interference_columns() {
    std::vector<Column> columns = tick_columns();
    columns[0].long_name = "rows of samples in /raw, of the rank with the most";
    columns[1].long_name = "times of one victim beyond those";
    for (Column& column : asked_columns()) columns.push_back(std::move(column));
    columns.push_back(p999_column());
    columns.push_back(
        whole_column({"alone_trips",
                      "",
                      "times of victims that count, of the phases without load",
                      Better::none,
                      {},
                      [](const Samples& s, const Point& p, const Layout&) { return counted_trips(s, p, false); }}));
    columns.push_back(whole_column({"silent_phases",
                                    "",
                                    "phases in which no time of a victim counts, of both kinds",
                                    Better::lower,
                                    {},
                                    silent_phases},
                                   ValueType::int32));
    columns.push_back(column_of({"load_full_gbps",
                                 "Gbit/s",
                                 "payload of the load per second, without victims and unlimited",
                                 Better::none,
                                 {},
                                 load_gbps<SampleKind::load>}));
    columns.push_back(column_of({"load_gbps",
                                 "Gbit/s",
                                 "payload of the load per second, in its phases beside victims",
                                 Better::none,
                                 {},
                                 load_gbps<SampleKind::loaded>}));
    columns.push_back(column_of({"load_rest_gbps",
                                 "Gbit/s",
                                 "payload of the load per second that still came in the phases without it",
                                 Better::none,
                                 {},
                                 load_gbps<SampleKind::alone>}));
    columns.push_back(whole_column({"load_class_granted",
                                    "",
                                    "1 when every load rank was granted its class, 0 when any was not",
                                    Better::none,
                                    {},
                                    class_granted},
                                   ValueType::int32));
    columns.push_back(class_trouble());
    columns.push_back(column_of({"gbps",
                                 "Gbit/s",
                                 "payload that comes to a victim in the median time under load, per second of it",
                                 Better::higher,
                                 {},
                                 victim_gbps}));
    add_impacts(columns);
    return columns_with(std::move(columns));
}

std::vector<SampleColumn> interference_samples() {
    return samples_with(
        {{.name = "rank_role",
          .long_name = "0: idle, 1: a victim that keeps times, 2: one that keeps none, 3: of the load"},
         {.name = "messages_sent", .long_name = "messages that the rank has sent"},
         {.name = "messages_received", .long_name = "messages that have come to the rank"},
         {.name = "class_granted",
          .long_name =
              "of a load rank that asked for a class: 1 when the provider took it and its sockets have it"},
         {.name = "sample_begin",
          .per = Per::tick,
          .units = "ns",
          .long_name = "the request was sent, the message came from which a stream's time counts, or an op of an "
                       "all-to-all began, from the start; of a load rank: its phase has settled"},
         {.name = "sample_phase",
          .per = Per::tick,
          .long_name = "phase of the point: alternation i has 2i + 1 and 2i + 2"},
         {.name = "sample_kind",
          .per = Per::tick,
          .long_name = "0: its phase had not settled, it does not count; 1: the load alone; 2: victims alone; 3: "
                       "victims under load"},
         {.name = "victim_time",
          .per = Per::tick,
          .units = "ns",
          .long_name =
              "from there to the answer, what a window of a stream took from there on, or until the op was over"},
         {.name = "load_received",
          .per = Per::tick,
          .long_name = "messages that came to the load rank from there to the end of the phase"},
         {.name = "load_time", .per = Per::tick, .units = "ns", .long_name = "how long that was"}});
}

Summary summarise_interference(const Samples& samples, const SummaryRules& rules) {
    std::vector<Nanoseconds> loaded;
    const auto& trips = samples.own.at("victim_time");
    const auto& kinds = samples.own.at("sample_kind");
    const auto ranks = static_cast<std::size_t>(samples.ranks);
    for (std::size_t rank = 0; rank < ranks; ++rank) // each in its own order, in which they may depend
        for (std::size_t i = rank; i < trips.size(); i += ranks)
            if (trips[i] != kNoMoment && is_of(kinds[i], SampleKind::loaded)) loaded.push_back(trips[i]);
    return summarise_round_trips(loaded, rules.percentile);
}

} // namespace a2aperf
