// SPDX-License-Identifier: BSD-3-Clause
#include "open_loop_columns.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "a2aperf/plan/open_loop_plan.hpp"
#include "a2aperf/stats/percentile.hpp"
#include "round_trip_columns.hpp"

namespace a2aperf {
namespace {

std::int64_t sum_of(const Samples& samples, std::string_view column) {
    const auto& values = samples.own.at(column);
    return std::accumulate(values.begin(), values.end(), std::int64_t{0});
}

std::int64_t most_of(const Samples& samples, std::string_view column) {
    return *std::ranges::max_element(samples.own.at(column));
}

double per_second(double count, Nanoseconds time) {
    return time > 0 ? count / static_cast<double>(time) * 1e9 : kAbsent;
}

double offered_rate(const Samples& samples, const Point&, const Layout&) {
    return per_second(static_cast<double>(sum_of(samples, "messages_due")), most_of(samples, "due_time"));
}

// Until the last answer, or for as long as messages were due.
double achieved_rate(const Samples& samples, const Point& point, const Layout& layout) {
    Nanoseconds time = most_of(samples, "due_time");
    for (const StreamPair& pair : point.flow->who)
        time = std::max(time, samples.recv_done[static_cast<std::size_t>(pair.from)]);
    return per_second(trips_of(samples, point, layout), time);
}

double backlog_of(const Samples& samples, const Point&, const Layout&) {
    return static_cast<double>(most_of(samples, "most_behind"));
}

double unanswered_of(const Samples& samples, const Point& point, const Layout& layout) {
    return static_cast<double>(sum_of(samples, "messages_due")) - trips_of(samples, point, layout);
}

// Of the kept requests that had a place when they fell due: from then until each was sent.
std::vector<Nanoseconds> pacing_errors(const Samples& samples) {
    const auto& waits = samples.own.at("request_wait");
    const auto& held_up = samples.own.at("held_up");
    std::vector<Nanoseconds> errors;
    for (std::size_t i = 0; i < waits.size(); ++i)
        if (held_up[i] == 0) errors.push_back(waits[i]);
    return errors;
}

// Above the median none that would be the largest.
template <int kPerMille>
double nearest_rank(std::vector<Nanoseconds> times) {
    if (times.empty()) return kAbsent;
    std::ranges::sort(times);
    const std::size_t at = percentile_index(times.size(), kPerMille / 1000.0, PercentileRule::rank);
    return kPerMille > 500 && at == times.size() - 1 ? kAbsent : static_cast<double>(times[at]);
}

template <int kPerMille>
double pacing_error(const Samples& samples, const Point&, const Layout&) {
    return nearest_rank<kPerMille>(pacing_errors(samples));
}

double largest_pacing_error(const Samples& samples, const Point&, const Layout&) {
    const std::vector<Nanoseconds> errors = pacing_errors(samples);
    return errors.empty() ? kAbsent : static_cast<double>(std::ranges::max(errors));
}

double paced_of(const Samples& samples, const Point&, const Layout&) {
    return static_cast<double>(std::ranges::count(samples.own.at("held_up"), 0));
}

double mean_of(const Samples& samples, std::string_view count, std::string_view time) {
    const auto all = static_cast<double>(sum_of(samples, count));
    return all > 0 ? static_cast<double>(sum_of(samples, time)) / all : kAbsent;
}

double relay_mean(const Samples& samples, const Point&, const Layout&) {
    return mean_of(samples, "relayed", "relay_time");
}

double relay_back_mean(const Samples& samples, const Point&, const Layout&) {
    return mean_of(samples, "relayed_back", "relay_back_time");
}

// Of the requests that are kept of the relays, which have no round trips.
template <int kPerMille>
double relay_percentile(const Samples& samples, const Point&, const Layout&) {
    const auto& trips = samples.own.at("round_trip");
    const auto& waits = samples.own.at("request_wait");
    std::vector<Nanoseconds> times;
    for (std::size_t i = 0; i < waits.size(); ++i)
        if (trips[i] == kNoMoment && waits[i] != kNoMoment) times.push_back(waits[i]);
    return nearest_rank<kPerMille>(std::move(times));
}

std::vector<Column> relay_columns() {
    return {
        column_of({"relay_mean",
                   "ns",
                   "mean time of a request in a relay, by that one's clock",
                   Better::lower,
                   {},
                   relay_mean}),
        column_of({"relay_p50",
                   "ns",
                   "median of it, of the requests that are kept of the relays",
                   Better::lower,
                   {},
                   relay_percentile<500>}),
        column_of({"relay_p99", "ns", "99th percentile of it", Better::lower, {}, relay_percentile<990>}),
        column_of(
            {"relay_back_mean", "ns", "mean time of an answer in a relay", Better::lower, {}, relay_back_mean})};
}

} // namespace

std::vector<Column> open_loop_columns() {
    std::vector<Column> columns{
        pairs_column(),
        outstanding_column(),
        asked_column("rate", ValueType::int64, "1/s", "messages that are due per second, of each pair",
                     [](const Point& p) { return open_loop_of(p).rate; }),
        asked_column("arrivals", ValueType::text, "", "whether they are due evenly, or as a Poisson process",
                     [](const Point& p) { return std::string(to_string(open_loop_of(p).arrivals)); }),
        asked_duration_column(),
        asked_column("asked_messages", ValueType::int64, "", "messages of each pair that were to be due",
                     [](const Point& p) { return p.flow->messages; }),
        asked_column("relays", ValueType::int32, "", "ranks over which messages and answers go",
                     [](const Point& p) { return std::int64_t{open_loop_of(p).relays}; }),
        asked_column("asked_relay_time", ValueType::int64, "ns", "that a relay serves each message",
                     [](const Point& p) { return open_loop_of(p).relay_time; }),
        memory_column(),
        trips_column(),
        p999_column(),
        column_of({"offered_rate",
                   "1/s",
                   "messages that were due per second, all pairs",
                   Better::none,
                   {},
                   offered_rate}),
        column_of(
            {"achieved_rate", "1/s", "round trips per second, all pairs", Better::higher, {}, achieved_rate})};
    for (Column& column : payload_columns(achieved_rate)) columns.push_back(std::move(column));
    for (Column& column : std::vector<Column>{
             under_way_column(),
             whole_column({"backlog",
                           "",
                           "most messages of a pair that were due and not yet sent",
                           Better::lower,
                           {},
                           backlog_of}),
             whole_column({"unanswered",
                           "",
                           "messages that were due and had no answer by the end",
                           Better::lower,
                           {},
                           unanswered_of}),
             whole_column(
                 {"paced", "", "kept messages that had a place when they fell due", Better::none, {}, paced_of}),
             column_of({"pacing_p50",
                        "ns",
                        "median of their time from due to sent",
                        Better::none,
                        {},
                        pacing_error<500>}),
             column_of({"pacing_p99", "ns", "99th percentile of it", Better::none, {}, pacing_error<990>}),
             column_of({"pacing_p999", "ns", "99.9th percentile of it", Better::none, {}, pacing_error<999>}),
             column_of({"pacing_max", "ns", "longest of it", Better::none, {}, largest_pacing_error})})
        columns.push_back(std::move(column));
    for (Column& column : relay_columns()) columns.push_back(std::move(column));
    return round_trip_columns(std::move(columns));
}

std::vector<SampleColumn> open_loop_samples() {
    return round_trip_samples(
        {{.name = "messages_due", .long_name = "messages of the rank that were due by the end"},
         {.name = "due_time", .units = "ns", .long_name = "for how long they came at the rate"},
         {.name = "most_behind", .long_name = "most of them to one server that were due and not yet sent"},
         {.name = "wait_time",
          .units = "ns",
          .long_name = "that messages which have an answer had been due until they were sent, together"},
         {.name = "relayed",
          .long_name = "messages that the rank sent on as a relay",
          .kept = Kept::but_in_old_files},
         {.name = "relay_time",
          .units = "ns",
          .long_name = "that they were there, together",
          .kept = Kept::but_in_old_files},
         {.name = "relayed_back",
          .long_name = "answers that the rank sent on as a relay",
          .kept = Kept::but_in_old_files},
         {.name = "relay_back_time",
          .units = "ns",
          .long_name = "that they were there, together",
          .kept = Kept::but_in_old_files}},
        {{.name = "request_due",
          .per = Per::tick,
          .units = "ns",
          .long_name = "it was due, or came at a relay, from the start"},
         {.name = "round_trip", .per = Per::tick, .units = "ns", .long_name = "from there to the answer"},
         {.name = "request_wait", .per = Per::tick, .units = "ns", .long_name = "from there until it was sent"},
         {.name = "held_up",
          .per = Per::tick,
          .long_name =
              "1: no place was free for it when it fell due while the client looked, or the provider had no room; "
              "0: there was, or the client did not run"}});
}

} // namespace a2aperf
