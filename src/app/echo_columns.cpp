// SPDX-License-Identifier: BSD-3-Clause
#include "echo_columns.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "a2aperf/plan/echo_plan.hpp"
#include "a2aperf/stats/trip_ways.hpp"
#include "echo_ways.hpp"
#include "round_trip_columns.hpp"

namespace a2aperf {
namespace {

// Per second, while all clients together had round trips.
double rate_of(const Samples& samples, const Point& point, const Layout& layout) {
    Nanoseconds first = std::numeric_limits<Nanoseconds>::max();
    Nanoseconds last = 0;
    for (const StreamPair& pair : point.flow->who) {
        first = std::min(first, samples.begin[static_cast<std::size_t>(pair.from)]);
        last = std::max(last, samples.recv_done[static_cast<std::size_t>(pair.from)]);
    }
    return last > first ? trips_of(samples, point, layout) / static_cast<double>(last - first) * 1e9 : kAbsent;
}

} // namespace

// Names and units are those of imported round trips.
std::vector<Column> echo_columns() {
    std::vector<Column> columns{
        asked_column("operation", ValueType::text, "", "what one round trip does",
                     [](const Point&) { return std::string("echo"); }),
        pairs_column(),
        asked_column("request_size", ValueType::int64, "B", "bytes of a request",
                     [](const Point& p) { return static_cast<std::int64_t>(echo_of(p).request_size); }),
        outstanding_column(),
        asked_duration_column(),
        memory_column(),
        trips_column(),
        p999_column(),
        column_of({"trip_rate", "1/s", "round trips per second, all clients", Better::higher, {}, rate_of})};
    for (Column& column : payload_columns(rate_of)) columns.push_back(std::move(column));
    columns.push_back(under_way_column());
    for (Column& column : way_columns()) columns.push_back(std::move(column));
    return round_trip_columns(std::move(columns));
}

std::vector<SampleColumn> echo_samples() {
    return round_trip_samples(
        {}, {{.name = kRequestBegin,
              .per = Per::tick,
              .units = "ns",
              .long_name = "the request was sent, from the start"},
             {.name = kRoundTrip, .per = Per::tick, .units = "ns", .long_name = "from there to the answer"},
             {.name = kRequestCame,
              .per = Per::tick,
              .units = "ns",
              .long_name = "the server saw the request, from the start on the common clock",
              .kept = Kept::but_in_old_files},
             {.name = kAnswerBegin,
              .per = Per::tick,
              .units = "ns",
              .long_name = "the server began to send its answer, from the start on the common clock",
              .kept = Kept::but_in_old_files}});
}

} // namespace a2aperf
