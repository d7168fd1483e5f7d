// SPDX-License-Identifier: BSD-3-Clause
// The two ways of round trips, apart: what the common clock of client and server tells of them.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "a2aperf/plan/flow_plan.hpp"
#include "a2aperf/stats/samples.hpp"
#include "a2aperf/stats/summary.hpp"

namespace a2aperf {

// Columns of the samples along round trips, on the common clock from the start.
inline constexpr std::string_view kRequestBegin = "request_begin";
inline constexpr std::string_view kRoundTrip = "round_trip"; // ns from there
inline constexpr std::string_view kRequestCame = "request_came";
inline constexpr std::string_view kAnswerBegin = "answer_begin";

// From the request's send until the server saw it, from there until it sent the answer, and from there until the
// client saw that: together the round trip.
enum class TripPart { there, server, back };

// Of every round trip that is kept, in no order; ns.
std::vector<Nanoseconds> trip_parts(const Samples& samples, TripPart part);

// How far a way between two ranks may be off, of any of these pairs, in ns: 0 where both have one clock, the bound
// of the clocks where one of them has rank 0's, and twice that where both are held against it.
double way_bound(const Samples& samples, std::span<const StreamPair> pairs);

// Whether such a bound is small enough to tell the ways apart: at most 5 % of the median round trip.
bool tells_ways(double bound_ns, double trip_p50_ns);

// By nearest rank, q = 0 is the shortest; NaN of none, and above the median where it would be the largest.
double part_percentile(std::vector<Nanoseconds> times, double q);

} // namespace a2aperf
