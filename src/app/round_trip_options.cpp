// SPDX-License-Identifier: BSD-3-Clause
#include "round_trip_options.hpp"

#include <any>
#include <map>

#include <fmt/format.h>

#include "a2aperf/base/error.hpp"
#include "duration_workload.hpp"

namespace a2aperf {
namespace {

int most_pairs(const std::vector<StreamPair>& pairs, Rank StreamPair::*of) {
    std::map<Rank, int> of_rank;
    int most = 0;
    for (const StreamPair& pair : pairs) most = std::max(most, ++of_rank[pair.*of]);
    return most;
}

} // namespace

RoundTripOptions& round_trip_options(Options& options) {
    return std::any_cast<RoundTripOptions&>(options.own);
}

const RoundTripOptions& round_trip_options(const Options& options) {
    return std::any_cast<const RoundTripOptions&>(options.own);
}

StreamPairs pairs_of(const RoundTripOptions& asked) {
    if (asked.clients || asked.servers)
        return StreamPairs::between(asked.clients.value_or(-1), asked.servers.value_or(-1));
    return asked.pairs.value_or(StreamPairs::parse("halves"));
}

int most_servers(const std::vector<StreamPair>& pairs) {
    return most_pairs(pairs, &StreamPair::from);
}

int most_clients(const std::vector<StreamPair>& pairs) {
    return most_pairs(pairs, &StreamPair::to);
}

void check_round_trips(const Options& options, std::span<const Format> formats, std::string_view names) {
    const RoundTripOptions& asked = round_trip_options(options);
    if (asked.pairs && (asked.clients || asked.servers))
        throw UsageError(fmt::format("--pairs and --{} exclude each other", asked.clients ? "clients" : "servers"));
    require_poll_without_pause(options);
    require_format(options, formats, names);
}

} // namespace a2aperf
