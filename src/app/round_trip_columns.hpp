// SPDX-License-Identifier: BSD-3-Clause
// What files of round trips hold of each point, whatever made the requests go.
#pragma once

#include <string_view>
#include <vector>

#include "a2aperf/record/columns.hpp"
#include "a2aperf/record/sample_column.hpp"
#include "a2aperf/stats/round_trips.hpp"

namespace a2aperf {

// Of the samples of those ranks that have any.
std::vector<RoundTrips> clients_of(const Samples& samples);

// How many are kept and how many are not, then the workload's own, and whether times and number agree.
std::vector<Column> round_trip_columns(std::vector<Column> own);

Column pairs_column();
Column outstanding_column();
Column asked_duration_column();
Column trips_column();
Column p999_column();
Column under_way_column();
// The payload of the answers at a rate of round trips.
std::vector<Column> payload_columns(double (*rate)(const Samples&, const Point&, const Layout&));

double trips_of(const Samples& samples, const Point&, const Layout&);

// Of each client, then what the workload adds to that; along the round trips, and of their histogram.
std::vector<SampleColumn> round_trip_samples(std::vector<SampleColumn> totals, std::vector<SampleColumn> trips);

// Of the round trips that are kept of all clients; the shortest and the longest are those of all.
Summary summarise_trips(const Samples& samples, const SummaryRules& rules);

} // namespace a2aperf
