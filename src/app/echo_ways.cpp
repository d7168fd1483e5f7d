// SPDX-License-Identifier: BSD-3-Clause
#include "echo_ways.hpp"

#include <cmath>
#include <utility>

#include "a2aperf/stats/pair_times.hpp"
#include "a2aperf/stats/trip_ways.hpp"

namespace a2aperf {
namespace {

constexpr std::string_view kWayBound = "way_bound";

double clocks_bound(const Samples& samples, const Point& point, const Layout&) {
    return way_bound(samples, point.flow->who);
}

double trips_with_ways(const Samples& samples, const Point&, const Layout&) {
    return static_cast<double>(trip_parts(samples, TripPart::there).size());
}

template <TripPart kPart, int kPerMille>
double part_of_trips(const Samples& samples, const Point&, const Layout&) {
    return part_percentile(trip_parts(samples, kPart), kPerMille / 1000.0);
}

// A way is told by the clocks of both ends, the server's time by its own alone.
Column way_column(Figure figure) {
    const std::string_view name = figure.name;
    Column column = column_of(std::move(figure));
    column.outcome = [name](const PointResult& result) {
        const auto time = result.figures.find(name);
        if (time == result.figures.end() || !tells_both_ways(result)) return Value(kAbsent);
        return Value(told_by_clock(time->second, result.figures.at(kWayBound)));
    };
    return column;
}

template <TripPart kPart, int kPerMille>
Column way(std::string_view name, std::string_view long_name) {
    return way_column({name, "ns", long_name, Better::lower, {}, part_of_trips<kPart, kPerMille>});
}

} // namespace

bool tells_both_ways(const PointResult& result) {
    const auto bound = result.figures.find(kWayBound);
    return bound != result.figures.end() && tells_ways(bound->second, result.summary.p50);
}

bool lacks_ways(const PointResult& result) {
    const auto bound = result.figures.find(kWayBound);
    return bound != result.figures.end() && !std::isnan(bound->second) && result.summary.count > 0 &&
           !tells_both_ways(result);
}

std::vector<Column> way_columns() {
    constexpr TripPart kThere = TripPart::there, kBack = TripPart::back;
    return {
        whole_column({"way_trips",
                      "",
                      "round trips that are kept, of which the ways are",
                      Better::none,
                      {},
                      trips_with_ways}),
        column_of({kWayBound,
                   "ns",
                   "how far the clocks of client and server may be apart: above 5 % of time_p50 no way is told",
                   Better::none,
                   {},
                   clocks_bound}),
        way<kThere, 0>("way_there_min", "shortest way there: from the request's send until the server saw it"),
        way<kThere, 500>("way_there_p50", "median of the way there"),
        way<kThere, 900>("way_there_p90", "90th percentile of the way there"),
        way<kThere, 990>("way_there_p99", "99th percentile of the way there"),
        column_of({"server_p50",
                   "ns",
                   "median time from when the server saw a request until it sent the answer, by its own clock",
                   Better::lower,
                   {},
                   part_of_trips<TripPart::server, 500>}),
        way<kBack, 0>("way_back_min", "shortest way back: from the answer's send until the client saw it"),
        way<kBack, 500>("way_back_p50", "median of the way back"),
        way<kBack, 900>("way_back_p90", "90th percentile of the way back"),
        way<kBack, 990>("way_back_p99", "99th percentile of the way back"),
    };
}

} // namespace a2aperf
