// SPDX-License-Identifier: BSD-3-Clause
#include "round_trip_columns.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "a2aperf/plan/echo_plan.hpp"

namespace a2aperf {
namespace {

double under_way_of(const Samples& samples, const Point&, const Layout&) {
    const std::vector<RoundTrips> clients = clients_of(samples);
    double sum = 0;
    for (const RoundTrips& client : clients) sum += under_way(client);
    return clients.empty() ? kAbsent : sum / static_cast<double>(clients.size());
}

double keeps_law(const Samples& samples, const Point&, const Layout&) {
    return std::ranges::all_of(clients_of(samples), keeps_littles_law);
}

// Of all clients.
TimeHistogram histogram_of(const Samples& samples) {
    TimeHistogram all;
    all.reserve();
    const auto& begins = samples.own.at("bucket_begin");
    const auto& counts = samples.own.at("bucket_trips");
    for (std::size_t i = 0; i < begins.size(); ++i)
        if (begins[i] != kNoMoment) all.add(begins[i], counts[i]);
    return all;
}

} // namespace

std::vector<RoundTrips> clients_of(const Samples& samples) {
    const auto& counts = samples.own.at("round_trips");
    const auto waits = samples.own.find("wait_time"); // of requests that have a rate
    std::vector<RoundTrips> clients;
    for (std::size_t rank = 0; rank < counts.size(); ++rank)
        if (counts[rank] > 0)
            clients.push_back({.places = samples.own.at("trip_places")[rank],
                               .count = counts[rank],
                               .total = samples.own.at("trip_time")[rank],
                               .idle = samples.own.at("idle_time")[rank],
                               .open = samples.own.at("open_time")[rank],
                               .shortest = samples.own.at("shortest_trip")[rank],
                               .longest = samples.own.at("longest_trip")[rank],
                               .time = samples.own.at("trip_span")[rank],
                               .waited = waits == samples.own.end() ? 0 : waits->second[rank]});
    return clients;
}

double trips_of(const Samples& samples, const Point&, const Layout&) {
    double count = 0;
    for (const RoundTrips& client : clients_of(samples)) count += static_cast<double>(client.count);
    return count;
}

std::vector<Column> round_trip_columns(std::vector<Column> own) {
    std::vector<Column> columns = tick_columns();
    columns[0].long_name = "round trips in /raw, of the rank with the most";
    columns[1].long_name = "round trips of one client beyond those";
    columns.push_back(bucket_column("buckets of the histogram in /raw, of the client with the most"));
    for (Column& column : own) columns.push_back(std::move(column));
    columns.push_back(whole_column({"littles_law",
                                    "",
                                    "1 where number and times of the round trips agree, 0 where not",
                                    Better::none,
                                    {},
                                    keeps_law},
                                   ValueType::int8));
    return columns_with(std::move(columns));
}

Column pairs_column() {
    return asked_column("echo_pairs", ValueType::text, "", "which client asks which server",
                        [](const Point& p) { return p.flow->pairs; });
}

Column outstanding_column() {
    return asked_column("outstanding", ValueType::int32, "",
                        "requests of a client to one server that may be under way",
                        [](const Point& p) { return std::int64_t{echo_of(p).outstanding}; });
}

Column asked_duration_column() {
    return asked_column("asked_duration", ValueType::int64, "ns", "time that the point was to be measured",
                        [](const Point& p) { return std::int64_t{p.flow->messages < 0 ? p.flow->duration : -1}; });
}

Column trips_column() {
    return whole_column({"round_trips", "", "round trips of all clients, kept or not", Better::none, {}, trips_of});
}

Column p999_column() {
    Column column;
    column.name = "time_p999";
    column.units = "ns";
    column.long_name = "99.9th percentile of the round trip";
    column.better = Better::lower;
    column.wide = {"p99.9", 1e-3, 2};
    column.outcome = [](const PointResult& r) { return Value(r.summary.p999); };
    column.restore = [](PointResult& r, const Value& v) { r.summary.p999 = std::get<double>(v); };
    return column;
}

Column under_way_column() {
    return column_of(
        {"under_way", "", "requests of a client under way on average", Better::none, {}, under_way_of});
}

std::vector<Column> payload_columns(double (*rate)(const Samples&, const Point&, const Layout&)) {
    const auto byte_rate = [rate](const Samples& s, const Point& p, const Layout& l) {
        return rate(s, p, l) * static_cast<double>(p.message_size);
    };
    const auto gbps = [byte_rate](const Samples& s, const Point& p, const Layout& l) {
        return byte_rate(s, p, l) * 8e-9;
    };
    return {
        column_of({"byte_rate", "B/s", "payload of the answers per second", Better::higher, {}, byte_rate}),
        column_of({"gbps", "Gbit/s", "payload of the answers per second", Better::higher, {}, gbps}),
    };
}

std::vector<SampleColumn> round_trip_samples(std::vector<SampleColumn> totals, std::vector<SampleColumn> trips) {
    std::vector<SampleColumn> columns{
        {.name = "round_trips", .long_name = "round trips of the rank as a client"},
        {.name = "trip_time", .units = "ns", .long_name = "sum of their times"},
        {.name = "idle_time", .units = "ns", .long_name = "that its places had no request under way, together"},
        {.name = "open_time", .units = "ns", .long_name = "that requests without an answer were under way"},
        {.name = "trip_span", .units = "ns", .long_name = "from its first request to its last answer"},
        {.name = "shortest_trip", .units = "ns", .long_name = "its shortest round trip"},
        {.name = "longest_trip", .units = "ns", .long_name = "its longest round trip"},
        {.name = "trip_places",
         .long_name = "its requests that may be under way, to all of its servers",
         .kept = Kept::but_in_old_files}};
    columns.insert(columns.end(), totals.begin(), totals.end());
    columns.insert(columns.end(), trips.begin(), trips.end());
    columns.push_back(
        {.name = "bucket_begin",
         .per = Per::bucket,
         .units = "ns",
         .long_name = "shortest time b of a bucket of the histogram of all round trips of the client: it goes to "
                      "below b + max(1, 2^(floor(log2(b)) - 10))",
         .kept = Kept::but_in_old_files});
    columns.push_back({.name = "bucket_trips",
                       .per = Per::bucket,
                       .long_name = "round trips in that bucket",
                       .kept = Kept::but_in_old_files});
    return samples_with(std::move(columns));
}

Summary summarise_trips(const Samples& samples, const SummaryRules& rules) {
    // Client after client: what depends on what came before it is of one client.
    const std::vector<std::int64_t>& trips = samples.own.at("round_trip"); // [n][rank]
    const auto ranks = static_cast<std::size_t>(samples.ranks);
    std::vector<Nanoseconds> kept;
    for (std::size_t rank = 0; rank < ranks; ++rank)
        for (std::size_t i = rank; i < trips.size(); i += ranks)
            if (trips[i] != kNoMoment) kept.push_back(trips[i]);
    RoundTrips all{.shortest = std::numeric_limits<Nanoseconds>::max()};
    for (const RoundTrips& client : clients_of(samples)) {
        all.count += client.count;
        all.total += client.total;
        all.shortest = std::min(all.shortest, client.shortest);
        all.longest = std::max(all.longest, client.longest);
    }
    if (all.count == std::ssize(kept)) return summarise_round_trips(kept, rules.percentile);
    return summarise_round_trips(histogram_of(samples), all.total, all.shortest, all.longest, rules.percentile);
}

} // namespace a2aperf
