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

// Of the kept requests that had a place when they fell due: from then until each was sent, ascending.
std::vector<Nanoseconds> pacing_errors(const Samples& samples) {
    const auto& waits = samples.own.at("request_wait");
    const auto& held_up = samples.own.at("held_up");
    std::vector<Nanoseconds> errors;
    for (std::size_t i = 0; i < waits.size(); ++i)
        if (held_up[i] == 0) errors.push_back(waits[i]);
    std::ranges::sort(errors);
    return errors;
}

// Nearest rank; above the median none that would be the largest.
template <int kPerMille>
double pacing_error(const Samples& samples, const Point&, const Layout&) {
    const std::vector<Nanoseconds> errors = pacing_errors(samples);
    if (errors.empty()) return kAbsent;
    const std::size_t at = percentile_index(errors.size(), kPerMille / 1000.0, PercentileRule::rank);
    return kPerMille > 500 && at == errors.size() - 1 ? kAbsent : static_cast<double>(errors[at]);
}

double largest_pacing_error(const Samples& samples, const Point&, const Layout&) {
    const std::vector<Nanoseconds> errors = pacing_errors(samples);
    return errors.empty() ? kAbsent : static_cast<double>(errors.back());
}

double paced_of(const Samples& samples, const Point&, const Layout&) {
    return static_cast<double>(std::ranges::count(samples.own.at("held_up"), 0));
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
    return round_trip_columns(std::move(columns));
}

std::vector<SampleColumn> open_loop_samples() {
    return round_trip_samples(
        {{.name = "messages_due", .long_name = "messages of the rank that were due by the end"},
         {.name = "due_time", .units = "ns", .long_name = "for how long they came at the rate"},
         {.name = "most_behind", .long_name = "most of them to one server that were due and not yet sent"},
         {.name = "wait_time",
          .units = "ns",
          .long_name = "that messages which have an answer had been due until they were sent, together"}},
        {{.name = "request_due", .per = Per::tick, .units = "ns", .long_name = "it was due, from the start"},
         {.name = "round_trip", .per = Per::tick, .units = "ns", .long_name = "from there to the answer"},
         {.name = "request_wait", .per = Per::tick, .units = "ns", .long_name = "from there until it was sent"},
         {.name = "held_up",
          .per = Per::tick,
          .long_name = "1: no place was free for it when it fell due, or the provider had no room; 0: there was"}});
}

} // namespace a2aperf
