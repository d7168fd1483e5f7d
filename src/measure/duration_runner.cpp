// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/measure/duration_runner.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "a2aperf/base/clock.hpp"
#include "a2aperf/base/error.hpp"

namespace a2aperf {
namespace {

// What is declared and what is told would stand under each other's names.
void require_as_many(std::size_t told, std::size_t declared, std::string_view what) {
    if (told != declared)
        throw RunError(
            fmt::format("a defect of the program: the flow gave {} {}, expected {}", told, what, declared));
}

// Turns [rank][value] into [value][rank].
std::vector<std::int64_t> by_value(const std::vector<std::int64_t>& all, std::size_t values, std::size_t ranks) {
    std::vector<std::int64_t> turned(all.size());
    for (std::size_t rank = 0; rank < ranks; ++rank)
        for (std::size_t value = 0; value < values; ++value)
            turned[value * ranks + rank] = all[rank * values + value];
    return turned;
}

} // namespace

// On this rank.
struct DurationRunner::Run {
    Nanoseconds start = 0; // on the common clock
    TickSamples ticks;
    FlowMoments moments{}; // from the start
    RankCounters rank_counters{};
    std::optional<NodeCounters> node_counters{};
    Reading before{}, after{};
};

DurationRunner::Run DurationRunner::run(Flow& flow) {
    Run run{.ticks = TickSamples(flow.counters())};
    const bool reads_node = job_.layout().local_index(job_.rank()) == 0;
    run.start = flow.run(durations_, rules_.duration, run.ticks, [&](Stage stage) {
        // What takes long to read is read where nobody waits for a message.
        if (stage == Stage::ready) {
            read_levels(run.before.rank);
            read_frequency(run.before.rank);
        }
        if (stage == Stage::ready && reads_node) run.before.node = node_counters_.read();
        if (stage == Stage::start) read_usage(run.before.rank);
        if (stage == Stage::end) run.after.rank = read_usage();
        if (stage != Stage::drained) return;
        if (reads_node)
            accumulate(run.node_counters, *run.before.node, run.after.node.emplace(node_counters_.read()));
        read_levels(run.after.rank);
        read_frequency(run.after.rank);
        run.rank_counters = difference(run.before.rank, run.after.rank);
    });
    if (durations_.stop_signal() != 0) throw Interrupted(durations_.stop_signal());

    // Who started nothing begins, and who got nothing ends, with the start: the op has a begin and an end of every
    // rank.
    const auto since_start = [&](Nanoseconds moment) {
        return moment == kNoMoment ? 0 : durations_.since(run.start, moment);
    };
    const FlowMoments told = flow.moments();
    run.moments.begin = since_start(told.begin);
    run.moments.send_done = std::max(since_start(told.send_done), run.moments.begin);
    run.moments.receive_done = std::max(since_start(told.receive_done), run.moments.begin);
    return run;
}

void DurationRunner::gather_moments(const Run& run, Samples& samples) {
    const std::int64_t mine[] = {run.moments.begin, run.moments.send_done, run.moments.receive_done};
    const auto all = job_.gather<std::int64_t>(mine);
    if (!job_.is_root()) return;
    Nanoseconds end = 0;
    for (std::size_t rank = 0; rank < static_cast<std::size_t>(job_.ranks()); ++rank) {
        const std::int64_t* const of_rank = all.data() + rank * std::size(mine);
        samples.begin.push_back(of_rank[0]);
        samples.send_done.push_back(of_rank[1]);
        samples.recv_done.push_back(of_rank[2]);
        samples.exit.push_back(0);
        end = std::max({end, of_rank[1], of_rank[2]});
    }
    samples.start.push_back(run.start - rules_.time_origin);
    samples.valid.push_back(end > 0 ? 1 : 0); // one that took no time is the clocks' error, or nothing was sent
}

// A rank that was over before the others has fewer.
void DurationRunner::gather_along(std::size_t most, std::string_view column, std::span<const std::int64_t> mine,
                                  Samples& samples) {
    std::vector<std::int64_t> padded(most, kNoMoment);
    std::copy(mine.begin(), mine.end(), padded.begin());
    const auto all = job_.gather<std::int64_t>(padded);
    if (job_.is_root()) samples.own[column] = by_value(all, most, static_cast<std::size_t>(job_.ranks()));
}

void DurationRunner::gather_ticks(const TickSamples& mine, Samples& samples) {
    const auto most = static_cast<std::size_t>(job_.max(static_cast<std::int64_t>(mine.size())));
    samples.ticks = static_cast<int>(most);
    gather_along(most, rules_.tick_end, mine.moments(), samples);
    for (const std::string_view column : rules_.tick_counts) {
        const auto counts = mine.column(column);
        gather_along(most, column, std::vector<std::int64_t>(counts.begin(), counts.end()), samples);
    }
}

void DurationRunner::gather_kept(const Run& run, const KeptSamples& kept, Samples& samples) {
    const std::size_t told = kept.both_ends ? 2 : 0;
    require_as_many(kept.values.size() + told, rules_.tick_counts.size(), "columns of samples");
    const auto most = static_cast<std::size_t>(job_.max(static_cast<std::int64_t>(kept.moments.size())));
    samples.ticks = static_cast<int>(most);
    std::vector<std::int64_t> offsets;
    offsets.reserve(kept.moments.size());
    for (const Nanoseconds moment : kept.moments)
        offsets.push_back(kept.are_offsets ? moment : durations_.since(run.start, moment));
    gather_along(most, rules_.tick_end, offsets, samples);
    for (std::size_t i = 0; i < kept.values.size(); ++i)
        gather_along(most, rules_.tick_counts[i], kept.values[i], samples);
    if (kept.both_ends) {
        const auto since_start = [&](Nanoseconds moment) { return durations_.since(run.start, moment); };
        const ServerMoments of_servers = tell_clients(job_, *kept.both_ends, since_start);
        gather_along(most, rules_.tick_counts[kept.values.size()], of_servers.came, samples);
        gather_along(most, rules_.tick_counts[kept.values.size() + 1], of_servers.answered, samples);
    }
    gather_buckets(kept, samples);
}

// Only those in which there is something: as many as of the rank with the most of them.
void DurationRunner::gather_buckets(const KeptSamples& kept, Samples& samples) {
    if (rules_.buckets.empty()) return;
    const auto most = static_cast<std::size_t>(job_.max(std::ssize(kept.buckets)));
    samples.buckets = static_cast<int>(most);
    std::vector<std::int64_t> begins, counts;
    for (const auto& [begin, count] : kept.buckets) {
        begins.push_back(begin);
        counts.push_back(count);
    }
    gather_along(most, rules_.buckets.at(0), begins, samples);
    gather_along(most, rules_.buckets.at(1), counts, samples);
}

void DurationRunner::gather_totals(const Flow& flow, Samples& samples) {
    const std::span<const std::int64_t> totals = flow.totals();
    require_as_many(totals.size(), rules_.totals.size(), "totals");
    const auto all = job_.gather<std::int64_t>(totals);
    if (!job_.is_root()) return;
    const auto ranks = static_cast<std::size_t>(job_.ranks());
    for (std::size_t total = 0; total < totals.size(); ++total) {
        std::vector<std::int64_t>& column = samples.own[rules_.totals[total]];
        for (std::size_t rank = 0; rank < ranks; ++rank) column.push_back(all[rank * totals.size() + total]);
    }
}

PointResult DurationRunner::measure(const Point& point, const MakeFlow& make_flow) {
    PointResult result;
    result.started_ns = wall_clock_ns();
    const Nanoseconds begin = now_ns();
    result.clock_error_ns = keep_clock_();
    const EngineParts parts{job_, channels_, ops_, deadline_, point, rules_.seed, false, rules_.cores};
    CountedPhase verification(job_, node_counters_);
    verify_channels(parts);
    verification.end();

    const std::unique_ptr<Flow> flow = make_flow(parts);
    if (!flow->kept()) require_as_many(flow->counters().size(), rules_.tick_counts.size(), "counters");
    const Run mine = run(*flow);
    const std::optional<KeptSamples> kept = flow->kept();
    result.samples.ranks = job_.ranks();
    result.samples.clock_error_ns = result.clock_error_ns;
    result.samples.clock_of_rank = rules_.clock_of_rank;
    gather_moments(mine, result.samples);
    if (kept)
        gather_kept(mine, *kept, result.samples);
    else
        gather_ticks(mine.ticks, result.samples);
    gather_totals(*flow, result.samples);
    result.told = job_.gather_text(flow->told());
    PhaseCounts timed = gather_counters(job_, mine.rank_counters, mine.node_counters);
    result.ranks = std::move(timed.ranks);
    result.nodes = std::move(timed.nodes);
    result.before = gather_counters(job_, mine.before.rank, mine.before.node);
    result.after = gather_counters(job_, mine.after.rank, mine.after.node);
    result.verification = verification.gather();
    const bool is_over = job_.max(flow->is_over() ? 0 : 1) == 0; // on all ranks
    result.used_inject =
        job_.min(flow->injects() ? 1 : 0) == 1; // of all ranks, of which each may send another size
    const std::int64_t lost = kept ? kept->lost : static_cast<std::int64_t>(mine.ticks.lost());
    result.ticks_lost = static_cast<int>(std::min<std::int64_t>(job_.max(lost), std::numeric_limits<int>::max()));
    result.duration_ns = now_ns() - begin;
    if (!job_.is_root()) return result;

    // What a flow takes samples of are its ops.
    const StopRule when_over = kept ? StopRule::ops : StopRule::messages;
    result.stop_rule = is_over ? when_over : rules_.at_its_end;
    result.warmup_p50_ns = kAbsent; // there is none
    SummaryRules rules = rules_.summary;
    rules.has_common_start = true;
    rules.clock_error_ns = result.clock_error_ns;
    result.summary = rules_.summarise(result.samples, job_.layout(), point.message_size, rules);
    result.buffer_slots = channels_.front()->slots(point.message_size);
    return result;
}

} // namespace a2aperf
