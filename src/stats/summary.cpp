// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/stats/summary.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace a2aperf {
namespace {

// What one pass over the samples of all valid ops yields.
struct Pass {
    std::vector<Nanoseconds> times;      // T [n], in time order
    std::vector<Nanoseconds> spans;      // [n]
    std::vector<Nanoseconds> rank_times; // e - b [n * R]
    std::vector<int> times_last;         // [R]: in how many ops the rank ended last
};

Pass pass_over(const Samples& samples, CompleteAt rule) {
    const auto ranks = static_cast<std::size_t>(samples.ranks);
    const auto ops = static_cast<std::size_t>(samples.valid_ops());
    Pass pass;
    pass.times.reserve(ops);
    pass.spans.reserve(ops);
    pass.rank_times.resize(ops * ranks);
    pass.times_last.resize(ranks);
    Nanoseconds* rank_time = pass.rank_times.data();
    for (std::size_t attempt = 0; attempt < samples.valid.size(); ++attempt) {
        if (samples.valid[attempt] == 0) continue;
        const Nanoseconds* begin = samples.begin.data() + attempt * ranks;
        const Nanoseconds* send_done = samples.send_done.data() + attempt * ranks;
        const Nanoseconds* recv_done = samples.recv_done.data() + attempt * ranks;
        Nanoseconds first = begin[0];
        const Nanoseconds* exit = samples.exit.empty() ? nullptr : samples.exit.data() + attempt * ranks;
        Nanoseconds longest = std::numeric_limits<Nanoseconds>::min(); // T: each rank from its own zero
        Nanoseconds last = std::numeric_limits<Nanoseconds>::min();    // on the common clock
        std::size_t last_rank = 0;
        for (std::size_t rank = 0; rank < ranks; ++rank) {
            const Nanoseconds end =
                rule == CompleteAt::sender ? send_done[rank] : std::max(send_done[rank], recv_done[rank]);
            longest = std::max(longest, end);
            if (const Nanoseconds moment = exit == nullptr ? end : exit[rank] + end; moment > last) {
                last = moment;
                last_rank = rank;
            }
            first = std::min(first, begin[rank]);
            *rank_time++ = end - begin[rank];
        }
        pass.times.push_back(longest);
        pass.spans.push_back(longest - first);
        ++pass.times_last[last_rank];
    }
    return pass;
}

void describe_times(Summary& summary, std::span<const Nanoseconds> times, PercentileRule rule) {
    std::vector<Nanoseconds> sorted(times.begin(), times.end());
    std::sort(sorted.begin(), sorted.end());
    const auto n = static_cast<double>(sorted.size());
    const auto at = [&](double q) { return static_cast<double>(percentile(sorted, q, rule)); };
    summary.min = static_cast<double>(sorted.front());
    summary.max = static_cast<double>(sorted.back());
    summary.p50 = at(0.5);
    summary.p90 = at(0.9);
    summary.p99 = at(0.99);
    summary.p99_is_max = percentile_index(sorted.size(), 0.99, rule) == sorted.size() - 1;
    summary.mean = std::accumulate(sorted.begin(), sorted.end(), 0.0) / n;
    if (sorted.size() > 1) {
        double squares = 0;
        for (const Nanoseconds time : sorted) {
            const double deviation = static_cast<double>(time) - summary.mean;
            squares += deviation * deviation;
        }
        summary.stddev = std::sqrt(squares / (n - 1));
    }
}

void describe_certainty(Summary& summary, std::span<const Nanoseconds> times) {
    summary.autocorrelation = autocorrelation(times);
    const SeriesInterval p50 = median_interval(times);
    summary.interval_kind = p50.kind;
    if (p50.interval) {
        summary.p50_low = p50.interval->low;
        summary.p50_high = p50.interval->high;
    }
    const SeriesInterval p99 = series_interval(times, 0.99);
    if (p99.interval) {
        summary.p99_low = p99.interval->low;
        summary.p99_high = p99.interval->high;
    }
}

} // namespace

Summary summarise_series(std::span<const Nanoseconds> times, PercentileRule rule) {
    Summary summary;
    summary.count = times.size();
    if (times.empty()) return summary;
    describe_times(summary, times, rule);
    describe_certainty(summary, times);
    return summary;
}

Summary summarise_times(const Samples& samples, const SummaryRules& rules) {
    Pass pass = pass_over(samples, rules.complete_at);
    Summary summary = summarise_series(pass.times, rules.percentile);
    summary.invalid = samples.valid.size() - summary.count;
    if (summary.count == 0) return summary;

    if (rules.has_common_start) summary.span_p50 = median(std::move(pass.spans), rules.percentile);
    summary.rank_time_p50 = median(std::move(pass.rank_times), rules.percentile);
    constexpr double kLargestError = 0.05; // of an op, as for a start by the clock
    const bool has_common_ends = (rules.has_common_start || !samples.exit.empty()) && !rules.follows_on &&
                                 rules.clock_error_ns <= kLargestError * summary.p50;
    if (!has_common_ends) return summary;
    const auto most = std::max_element(pass.times_last.begin(), pass.times_last.end());
    summary.last_rank = static_cast<Rank>(most - pass.times_last.begin());
    summary.last_rank_share = static_cast<double>(*most) / static_cast<double>(summary.count);
    return summary;
}

namespace {

void tell_traffic(Summary& summary, const Layout& layout, const SummaryRules& rules) {
    if (rules.loads.messages == 0 || summary.count == 0) return;
    const TrafficBound bound = bound_of(rules.loads, rules.rank_link_gbps, rules.node_link_gbps);
    const Load& busiest = std::isnan(bound.ns) ? rules.loads.rank : bound.by;
    summary.bound = bound.ns;
    const double time = rules.follows_on ? summary.whole_time / static_cast<double>(summary.count) : summary.p50;
    if (time > 0 && rules.tells_reached()) summary.bound_share = bound.ns / time;
    summary.busiest = busiest.who;
    summary.busiest_index = busiest.index;
    summary.imbalance = rules.loads.rank_imbalance(layout);
    summary.node_imbalance = rules.loads.node_imbalance(layout);
    summary.largest_message = static_cast<std::int64_t>(rules.loads.largest);
}

// Where each op has traffic of its own: what each valid one asked for and took, in time order.
struct OpsInTurn {
    std::vector<TrafficLoads> loads;
    std::vector<Nanoseconds> times;
};

OpsInTurn ops_in_turn(const Samples& samples, const SummaryRules& rules) {
    OpsInTurn ops{{}, op_times(samples, rules.complete_at)};
    for (std::size_t attempt = 0; attempt < samples.valid.size(); ++attempt)
        if (samples.valid[attempt] != 0)
            ops.loads.push_back(rules.loads_in_turn[attempt % rules.loads_in_turn.size()]);
    return ops;
}

// Of what some ops may lack: of those that have it; NaN where none has.
double mean_of_known(std::vector<double> values) {
    std::erase_if(values, [](double value) { return std::isnan(value); });
    double sum = 0;
    for (const double value : values) sum += value;
    return sum / static_cast<double>(values.size());
}

// In any order, by the same rule as a median of times; NaN where none is known.
double middle(std::vector<double> values, PercentileRule rule) {
    std::erase_if(values, [](double value) { return std::isnan(value); });
    if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
    std::ranges::sort(values);
    return values[percentile_index(values.size(), 0.5, rule)];
}

// Of each rate the median of the ops', since an op that has more to move takes longer. The median is that of the
// time for a byte, so that ops that all ask the same have what others have: their bytes over p50.
Bandwidths rates_in_turn(const OpsInTurn& ops, const Layout& layout, PercentileRule rule) {
    constexpr std::array kRates{&Bandwidths::rank,        &Bandwidths::compat,       &Bandwidths::node_net_min,
                                &Bandwidths::node_net,    &Bandwidths::node_net_max, &Bandwidths::node_total,
                                &Bandwidths::node_compat, &Bandwidths::duplex,       &Bandwidths::aggregate,
                                &Bandwidths::bisection,   &Bandwidths::msg_rate};
    std::vector<Bandwidths> rates;
    for (std::size_t op = 0; op < ops.loads.size(); ++op)
        rates.push_back(bandwidths(layout, ops.loads[op], static_cast<double>(ops.times[op])));
    Bandwidths middles;
    for (double Bandwidths::*const rate : kRates) {
        std::vector<double> of_ops(rates.size());
        std::ranges::transform(rates, of_ops.begin(), [&](const Bandwidths& op) { return 1 / op.*rate; });
        middles.*rate = 1 / middle(std::move(of_ops), rule);
    }
    return middles;
}

// Means of the ops, and the median of what each reached.
void tell_traffic_in_turn(Summary& summary, const OpsInTurn& ops, const Layout& layout, const SummaryRules& rules) {
    std::vector<double> bounds, reached, of_ranks, of_nodes;
    for (std::size_t op = 0; op < ops.loads.size(); ++op) {
        bounds.push_back(bound_of(ops.loads[op], rules.rank_link_gbps, rules.node_link_gbps).ns);
        reached.push_back(bounds.back() / static_cast<double>(ops.times[op]));
        of_ranks.push_back(ops.loads[op].rank_imbalance(layout));
        of_nodes.push_back(ops.loads[op].node_imbalance(layout));
    }
    summary.bound = mean_of_known(std::move(bounds));
    if (rules.tells_reached()) summary.bound_share = middle(std::move(reached), rules.percentile);
    summary.imbalance = mean_of_known(std::move(of_ranks));
    summary.node_imbalance = mean_of_known(std::move(of_nodes));
    summary.largest_message = static_cast<std::int64_t>(rules.loads.largest);
}

} // namespace

double whole_time(const Samples& samples, CompleteAt rule) {
    std::vector<std::pair<Nanoseconds, Nanoseconds>> spans;
    for (int attempt = 0; attempt < samples.attempts(); ++attempt) {
        const auto at = static_cast<std::size_t>(attempt);
        if (samples.valid[at] == 0) continue;
        auto& [first, last] =
            spans.emplace_back(std::numeric_limits<Nanoseconds>::max(), std::numeric_limits<Nanoseconds>::min());
        for (Rank rank = 0; rank < samples.ranks; ++rank) {
            const auto cell = at * static_cast<std::size_t>(samples.ranks) + static_cast<std::size_t>(rank);
            const Nanoseconds zero = samples.start[at] + (samples.exit.empty() ? 0 : samples.exit[cell]);
            first = std::min(first, zero + samples.begin[cell]);
            last = std::max(last, zero + samples.end_of(attempt, rank, rule));
        }
    }
    std::sort(spans.begin(), spans.end());
    Nanoseconds whole = 0;
    Nanoseconds until = std::numeric_limits<Nanoseconds>::min();
    for (const auto& [first, last] : spans) {
        if (last > until) whole += last - std::max(first, until);
        until = std::max(until, last);
    }
    return static_cast<double>(whole);
}

Summary summarise(const Samples& samples, const Layout& layout, Bytes message_size, const SummaryRules& rules) {
    Summary summary = summarise_times(samples, rules);
    const bool is_in_turn = !rules.loads_in_turn.empty() && summary.count > 0;
    const OpsInTurn ops = is_in_turn ? ops_in_turn(samples, rules) : OpsInTurn{};
    const TrafficLoads loads = is_in_turn ? mean_of(ops.loads) : rules.loads;
    const auto rates = [&](double time) {
        return rules.is_uniform ? bandwidths(layout, message_size, time) : bandwidths(layout, loads, time);
    };
    if (rules.follows_on && summary.count > 0) summary.whole_time = whole_time(samples, rules.complete_at);
    if (rules.tells_reached()) {
        const double each = summary.whole_time / static_cast<double>(summary.count);
        summary.gbps = is_in_turn ? rates_in_turn(ops, layout, rules.percentile)
                                  : rates(rules.follows_on ? each : summary.p50);
        const Bandwidths sustained = rates(rules.follows_on ? each : summary.mean); // n / sum of T = 1 / mean
        summary.gbps_sustained = sustained.rank;
        summary.gbps_sustained_compat = sustained.compat;
        if (rules.node_link_gbps > 0) summary.efficiency = summary.gbps.node_net / rules.node_link_gbps;
    }
    if (is_in_turn)
        tell_traffic_in_turn(summary, ops, layout, rules);
    else
        tell_traffic(summary, layout, rules);
    return summary;
}

} // namespace a2aperf
