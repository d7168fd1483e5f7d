// SPDX-License-Identifier: BSD-3-Clause
// What workloads of round trips can be asked for: who asks whom, for how long, and what is kept.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "a2aperf/config/option_table.hpp"
#include "a2aperf/config/options.hpp"
#include "a2aperf/config/selection.hpp"
#include "a2aperf/config/values.hpp"
#include "a2aperf/measure/echo_engine.hpp"
#include "a2aperf/plan/due_times.hpp"
#include "a2aperf/plan/stream_pairs.hpp"

namespace a2aperf {

struct RoundTripOptions {
    std::optional<StreamPairs> pairs; // else by these, or halves
    std::optional<int> clients, servers;
    std::vector<int> outstanding{1};
    std::optional<Nanoseconds> duration;
    int most_samples = 20'000;
    Bytes request_size = 0; // of echo; in an open loop a request is as long as its answer
    // Of an open loop.
    std::vector<std::int64_t> rates;
    Arrivals arrivals = Arrivals::even;
    std::optional<int> messages;
    int relays = 0;
    Nanoseconds relay_time = 0;
};

RoundTripOptions& round_trip_options(Options& options);
const RoundTripOptions& round_trip_options(const Options& options);

StreamPairs pairs_of(const RoundTripOptions& asked);
// That one client asks, and that one server answers.
int most_servers(const std::vector<StreamPair>& pairs);
int most_clients(const std::vector<StreamPair>& pairs);

// What their options say of each other, and which formats of the table there are. Throws UsageError.
void check_round_trips(const Options& options, std::span<const Format> formats, std::string_view names);

// Options that all of them have.

inline constexpr OptionRow kPairsRow{
    .name = "pairs",
    .value = "PAIRS",
    .section = Section::what,
    .audience = Audience::daily,
    .example = "neighbours",
    .help = "which client asks which server: halves (rank r of the lower half asks r + R/2), neighbours (2r asks "
            "2r + 1), all-to-one (all ask rank 0), one-to-all (it asks all), or ranks as in 0:1,0:2 (default: "
            "halves)",
    .set = [](Options& o, std::span<const std::string> v, const Catalogue&) {
        round_trip_options(o).pairs = StreamPairs::parse(v[0], Partners::others);
    }};

inline constexpr OptionRow kClientsRow{
    .name = "clients",
    .value = "N",
    .section = Section::what,
    .audience = Audience::daily,
    .example = "3",
    .help = "instead of --pairs: the first N ranks ask the servers, in turn (default: all that are no servers)",
    .set = [](Options& o, std::span<const std::string> v, const Catalogue&) {
        round_trip_options(o).clients = parse_int(v[0], 1, kMostRanks);
    }};

inline constexpr OptionRow kServersRow{
    .name = "servers",
    .value = "N",
    .section = Section::what,
    .audience = Audience::daily,
    .example = "1",
    .help = "instead of --pairs: the last N ranks answer (default: all that are no clients)",
    .set = [](Options& o, std::span<const std::string> v, const Catalogue&) {
        round_trip_options(o).servers = parse_int(v[0], 1, kMostRanks);
    }};

constexpr OptionRow outstanding_row(std::string_view example, std::string_view help) {
    return {.name = "outstanding",
            .value = "LIST",
            .section = Section::what,
            .arity = Arity::several,
            .audience = Audience::daily,
            .example = example,
            .help = help,
            .set = [](Options& o, std::span<const std::string> v, const Catalogue&) {
                std::vector<int>& counts = round_trip_options(o).outstanding;
                counts.clear();
                for (const std::string& item : split_list(v))
                    if (const int count = parse_int(item, 1, kMostOutstanding);
                        std::ranges::find(counts, count) == counts.end())
                        counts.push_back(count);
            }};
}

inline constexpr int kMostKeptTrips = 100'000'000;

inline constexpr OptionRow kKeptTripsRow{
    .name = "max-samples",
    .value = "N",
    .section = Section::how_long,
    .example = "1000",
    .help = "round trips of a client that are kept of a point one by one, the first ones; of more, percentiles are "
            "those of a histogram of all (default: 20000)",
    .set = [](Options& o, std::span<const std::string> v, const Catalogue&) {
        round_trip_options(o).most_samples = parse_int(v[0], 1, kMostKeptTrips);
    }};

} // namespace a2aperf
