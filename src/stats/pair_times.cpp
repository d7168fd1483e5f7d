// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/stats/pair_times.hpp"

#include <algorithm>

namespace a2aperf {

Nanoseconds transfer_time(const Samples& samples, int attempt, Rank source, Rank destination) {
    const auto first = static_cast<std::size_t>(attempt) * static_cast<std::size_t>(samples.ranks);
    const auto at = [first](Rank rank) { return first + static_cast<std::size_t>(rank); };
    const Rank initiator = samples.send_done[at(source)] == kNoMoment ? destination : source;
    return samples.zero_of(attempt, destination) + samples.recv_done[at(destination)] -
           samples.zero_of(attempt, initiator) - samples.begin[at(initiator)];
}

std::vector<Nanoseconds> transfer_times(const Samples& samples, Rank source, Rank destination) {
    std::vector<Nanoseconds> times;
    for (int attempt = 0; attempt < samples.attempts(); ++attempt)
        times.push_back(transfer_time(samples, attempt, source, destination));
    return times;
}

double told_by_clock(double time_ns, double clock_error_ns) {
    return time_ns > clock_error_ns ? time_ns : kAbsent;
}

std::vector<PairTime> pair_times(const Samples& samples, int distance, PercentileRule rule, double clock_error_ns) {
    std::vector<PairTime> pairs;
    std::vector<Nanoseconds> times;
    for (Rank source = 0; source < samples.ranks; ++source) {
        PairTime pair{source, (source + distance) % samples.ranks};
        times.clear();
        for (int attempt = 0; attempt < samples.attempts(); ++attempt)
            if (samples.valid[static_cast<std::size_t>(attempt)] != 0)
                times.push_back(transfer_time(samples, attempt, source, pair.destination));
        std::sort(times.begin(), times.end());
        pair.ops = static_cast<int>(times.size());
        if (pair.ops > 0) {
            pair.p50 = told_by_clock(static_cast<double>(percentile(times, 0.5, rule)), clock_error_ns);
            pair.min = told_by_clock(static_cast<double>(times.front()), clock_error_ns);
        }
        pairs.push_back(pair);
    }
    return pairs;
}

double pair_gbps(Bytes message_size, double time_ns) {
    return time_ns > 0 ? 8 * static_cast<double>(message_size) / time_ns : kAbsent;
}

Summary summarise_step(const Samples& samples, const Layout& layout, Bytes message_size,
                       const SummaryRules& rules) {
    Summary summary = summarise_times(samples, rules);
    const double ranks = layout.ranks();
    summary.gbps.rank = pair_gbps(message_size, summary.p50);
    summary.gbps.aggregate = ranks * summary.gbps.rank;
    summary.gbps.msg_rate = summary.p50 > 0 ? ranks / summary.p50 * 1e9 : kAbsent;
    summary.gbps_sustained = pair_gbps(message_size, summary.mean);
    return summary;
}

} // namespace a2aperf
