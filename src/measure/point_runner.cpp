// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/measure/point_runner.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "a2aperf/base/clock.hpp"
#include "a2aperf/base/error.hpp"
#include "a2aperf/measure/start_policy.hpp"
#include "redrawn_engine.hpp"

namespace a2aperf {
namespace {

constexpr Nanoseconds kBlockTime = 500'000'000; // between looks at progress and signals
constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

// Fills up what an engine told nothing of. Any other number than so many an op would shift all that follow.
void require_all_or_none(std::vector<Nanoseconds>& told, std::size_t ops, std::size_t per_op, Nanoseconds none,
                         std::string_view what) {
    if (told.empty()) told.resize(ops * per_op, none);
    if (told.size() != ops * per_op)
        throw RunError(fmt::format("a defect of the program: the engine gave {} {} in {} ops, expected {} in each",
                                   told.size(), what, ops, per_op));
}

} // namespace

// One engine's ops of one point.
struct PointRunner::Series {
    std::unique_ptr<Engine> engine;
    std::optional<PollingWay> polling{};
    OpKind kind = OpKind::timed; // of its ops, warmed up
    int ops = 0;                 // made so far, as the file numbers them
    OwnSamples own;              // of the block under way
    Samples samples;             // of all blocks and ranks, on rank 0
    RankCounters rank_counters{};
    std::optional<NodeCounters> node_counters; // nothing before the first block
    std::optional<Reading> before;             // of the first block
    Reading after;                             // of the last one so far
    Nanoseconds late_limit = -1;
    double warmup_p50 = kUnknown;
    StopRule stop_rule = StopRule::none; // on rank 0
};

void PointRunner::verify(const Point& point) {
    deadline_.poll_as(point.polling);
    for (int op = 0; op < point.draws(); ++op) {
        const Point drawn = point.of_op(op, job_.layout());
        verify_channels(parts(drawn));
    }
}

void PointRunner::run_block(Series& series, int count, OpKind kind) {
    series.own.clear();
    series.own.reserve(static_cast<std::size_t>(count), rules_.traces ? static_cast<std::size_t>(job_.ranks()) : 0,
                       rules_.own_samples.size());
    const bool reads_node = job_.layout().local_index(job_.rank()) == 0;
    Reading before;
    if (!series.before) {
        read_levels(before.rank);
        read_frequency(before.rank);
    }
    if (reads_node) before.node = node_counters_.read();
    job_.barrier(); // nobody counts, nor uses CPU time, that the node's counters do not have
    read_usage(before.rank);
    deadline_.poll_as(series.polling);
    loop_.name(kind, series.ops);
    series.ops += loop_.run(*series.engine, count, series.own);
    series.after.rank = read_usage();
    if (reads_node)
        accumulate(series.node_counters, *before.node, series.after.node.emplace(node_counters_.read()));
    read_levels(series.after.rank);
    accumulate(series.rank_counters, difference(before.rank, series.after.rank));
    if (!series.before) series.before = std::move(before);
    if (loop_.stop_signal() != 0) throw Interrupted(loop_.stop_signal());
}

// [op][destination][source]. An op at a time, so that what is under way at once does not grow with the block.
void PointRunner::gather_arrivals(Series& series) {
    const std::size_t count = series.own.size();
    const auto ranks = static_cast<std::size_t>(job_.ranks());
    require_all_or_none(series.own.arrival, count, ranks, -1, "arrivals"); // none: an engine that can't tell
    auto& arrival = series.samples.arrival;
    for (std::size_t op = 0; op < count; ++op) {
        const auto all = job_.gather(std::span<const Nanoseconds>(series.own.arrival).subspan(op * ranks, ranks));
        arrival.insert(arrival.end(), all.begin(), all.end());
    }
}

// Turns [rank][op][column] of the block into [op][rank] of each column of the point.
void PointRunner::gather_own(Series& series) {
    const std::size_t count = series.own.size();
    const std::size_t columns = rules_.own_samples.size();
    require_all_or_none(series.own.own_moments, count, columns, kNoMoment, "own moments"); // none: the baseline
    if (columns == 0) return;
    const auto all = job_.gather<Nanoseconds>(series.own.own_moments);
    if (!job_.is_root()) return;
    const auto ranks = static_cast<std::size_t>(job_.ranks());
    for (std::size_t column = 0; column < columns; ++column) {
        auto& moments = series.samples.own[rules_.own_samples[column]];
        for (std::size_t op = 0; op < count; ++op)
            for (std::size_t rank = 0; rank < ranks; ++rank)
                moments.push_back(all[(rank * count + op) * columns + column]);
    }
}

// Turns [rank][op] of the block into [op][rank] of the point.
void PointRunner::gather_block(Series& series) {
    const std::size_t count = series.own.size();
    std::vector<Nanoseconds> mine;
    for (const auto* column :
         {&series.own.begin, &series.own.send_done, &series.own.receive_done, &series.own.start})
        mine.insert(mine.end(), column->begin(), column->end());
    const auto all = job_.gather<Nanoseconds>(mine);
    if (rules_.traces) gather_arrivals(series);
    gather_own(series);
    if (!job_.is_root()) return;

    constexpr std::size_t kColumns = 4;
    const bool by_sender = rules_.summary.complete_at == CompleteAt::sender;
    Samples& samples = series.samples;
    samples.ranks = job_.ranks();
    const auto ranks = static_cast<std::size_t>(job_.ranks());
    for (std::size_t op = 0; op < count; ++op) {
        Nanoseconds latest = std::numeric_limits<Nanoseconds>::min();
        Nanoseconds longest = latest;
        for (std::size_t rank = 0; rank < ranks; ++rank) {
            const Nanoseconds* columns = all.data() + rank * kColumns * count + op;
            samples.begin.push_back(columns[0]);
            samples.send_done.push_back(columns[count]);
            samples.recv_done.push_back(columns[2 * count]);
            samples.exit.push_back(columns[3 * count] - series.own.start[op]);
            latest = std::max(latest, columns[0]);
            const Nanoseconds end = columns[count];
            longest = std::max(longest, by_sender ? end : std::max(end, columns[2 * count]));
        }
        samples.start.push_back(series.own.start[op] - rules_.time_origin);
        // An op that took no time is the clocks' error, not an op.
        const bool is_valid = (series.late_limit < 0 || latest <= series.late_limit) && longest > 0;
        samples.valid.push_back(is_valid ? 1 : 0);
    }
}

double PointRunner::warm_up(Series& series) {
    if (rules_.warmup > 0) {
        run_block(series, rules_.warmup, OpKind::warmup);
        gather_block(series);
    }
    double p50 = median(op_times(series.samples, rules_.summary.complete_at), PercentileRule::rank);
    job_.broadcast(p50);
    series.engine->restart();
    series.samples = {};
    series.ops = 0;
    series.rank_counters = {};
    series.node_counters = {};
    series.before = {};
    return p50;
}

// The rule that lets a series end here; none = it needs more. Precision comes first: where it is reached with the
// last op of all, it is reached.
StopRule PointRunner::rule_met(const Series& series) const {
    const int valid = series.samples.valid_ops();
    if (rules_.precision && valid >= rules_.min_ops) {
        const auto times = op_times(series.samples, rules_.summary.complete_at);
        const auto interval = median_interval(times).interval;
        if (interval && reach(*interval, median(times, PercentileRule::rank)) <= *rules_.precision)
            return StopRule::precision;
    }
    if (valid >= rules_.target()) return rules_.precision ? StopRule::max_ops : StopRule::ops;
    if (series.samples.attempts() >= rules_.max_attempts(loop_.start())) return StopRule::attempts;
    return StopRule::none;
}

PointRunner::Decision PointRunner::decide(std::vector<Series>& all, Nanoseconds elapsed, Nanoseconds block_time,
                                          int block) const {
    Decision decision;
    const bool is_late = rules_.time_budget && elapsed >= *rules_.time_budget;
    decision.is_over = true;
    for (Series& series : all) {
        series.stop_rule = rule_met(series);
        if (series.stop_rule == StopRule::none && is_late) series.stop_rule = StopRule::time_budget;
        decision.is_over = decision.is_over && series.stop_rule != StopRule::none;
    }

    // Long enough to be cheap, short enough to be looked at; not past what is missing.
    const int most = rules_.max_attempts(loop_.start()) - all.front().samples.attempts();
    const int missing = std::max(rules_.target() - all.front().samples.valid_ops(), 1);
    const double per_op = static_cast<double>(std::max(block_time, Nanoseconds{1})) / std::max(block, 1);
    Nanoseconds wanted_time = kBlockTime;
    if (rules_.time_budget) wanted_time = std::clamp(*rules_.time_budget - elapsed, Nanoseconds{1}, kBlockTime);
    const int wanted = static_cast<int>(std::clamp(static_cast<double>(wanted_time) / per_op, 1.0, 1e6));
    decision.next_block = std::clamp(std::min(wanted, rules_.precision ? std::max(rules_.min_ops, 10) : wanted), 1,
                                     std::max(1, std::min(most, missing)));
    return decision;
}

void PointRunner::run_blocks(std::vector<Series>& all, bool alternates) {
    const Nanoseconds begin = now_ns();
    Decision decision;
    decision.next_block = std::min(rules_.block, rules_.target());
    for (int round = 0; !decision.is_over; ++round) {
        const int count = decision.next_block;
        const Nanoseconds block_begin = now_ns();
        // A B, B A, A B, …: a drift hits both alike.
        for (std::size_t i = 0; i < all.size(); ++i) {
            Series& series = all[round % 2 == 0 ? i : all.size() - 1 - i];
            run_block(series, count, series.kind);
            gather_block(series);
        }
        if (job_.is_root()) {
            const Nanoseconds now = now_ns();
            decision = decide(all, now - begin, now - block_begin, count);
            if (alternates) decision.next_block = std::min(decision.next_block, rules_.block);
            const auto& own = all.front();
            const Nanoseconds* first = own.samples.recv_done.data() + own.samples.recv_done.size() -
                                       static_cast<std::size_t>(job_.ranks());
            report_(own.samples.valid_ops(), rules_.target(),
                    static_cast<double>(*std::max_element(first, first + job_.ranks())));
        }
        job_.broadcast(decision);
        if (!decision.is_over) clock_error_ns_ = keep_clock_();
    }
}

SummaryRules PointRunner::summary_rules() const {
    SummaryRules rules = rules_.summary;
    rules.has_common_start = loop_.start() == Start::clock;
    rules.follows_on = loop_.start() == Start::none;
    rules.clock_error_ns = clock_error_ns_;
    return rules;
}

PointResult PointRunner::finish(Series& series, const Point& point) {
    PointResult result;
    PhaseCounts timed = gather_counters(job_, series.rank_counters, series.node_counters);
    result.ranks = std::move(timed.ranks);
    result.nodes = std::move(timed.nodes);
    read_frequency(series.after.rank);
    const Reading before = series.before.value_or(Reading{});
    result.before = gather_counters(job_, before.rank, before.node);
    result.after = gather_counters(job_, series.after.rank, series.after.node);
    result.pinned_threads = static_cast<int>(job_.min(std::int64_t{series.engine->pinned_threads()}));
    if (!job_.is_root()) return result;

    result.samples = std::move(series.samples);
    result.clock_error_ns = clock_error_ns_;
    result.summary = rules_.summarise(result.samples, job_.layout(), point.message_size, summary_rules());
    result.summary.ratio = result.summary.ratio_low = result.summary.ratio_high = kUnknown;
    result.stop_rule = series.stop_rule;
    result.late_limit_ns = series.late_limit;
    result.warmup_p50_ns = series.warmup_p50;
    result.buffer_slots = point.traffic ? job_.ranks() : channels_.front()->slots(point.place_bytes());
    return result;
}

namespace {

// partner's p50 / mine, so that above 1 this row is the faster one.
void set_ratio(PointResult& mine, const PointResult& partner, const RunRules& rules) {
    mine.summary.ratio = partner.summary.p50 / mine.summary.p50;
    // Attempts of the same number are of neighbouring blocks, also where one side has more that are not valid.
    const auto blocks = [&](const PointResult& result) {
        return op_times_in_blocks(result.samples, rules.summary.complete_at, rules.block);
    };
    const auto interval = ratio_interval(blocks(partner), blocks(mine));
    mine.summary.ratio_low = interval ? interval->low : kUnknown;
    mine.summary.ratio_high = interval ? interval->high : kUnknown;
}

std::unique_ptr<Engine> make_baseline(const Job& job, const Channel& channel, const Point& point) {
    std::byte* const from = channel.send_buffer();
    std::byte* const to = channel.receive_buffer();
    return point.traffic ? make_mpi_engine(job, from, to, *point.traffic)
                         : make_mpi_engine(job, from, to, point.message_size);
}

} // namespace

std::unique_ptr<Engine> PointRunner::engine_of_op(const Point& point) {
    return point.is_baseline() ? make_baseline(job_, *channels_.front(), point) : make_engine_(parts(point));
}

std::unique_ptr<Engine> PointRunner::engine_of(const Point& point) {
    if (point.draws() == 1) return engine_of_op(point);
    return std::make_unique<RedrawnEngine>([this, point](int op) {
        const Point drawn = point.of_op(op, job_.layout());
        return engine_of_op(drawn);
    });
}

Samples PointRunner::sample(const Point& point) {
    clock_error_ns_ = keep_clock_();
    Series series;
    series.engine = engine_of(point);
    series.polling = point.polling;
    warm_up(series);
    run_block(series, rules_.target(), series.kind);
    gather_block(series);
    return std::move(series.samples);
}

PhaseCounts PointRunner::counted_verification(const Point& point) {
    CountedPhase verification(job_, node_counters_);
    verify(point);
    verification.end();
    return verification.gather();
}

PointOutcome PointRunner::measure(const Point& point, const Point* beside) {
    const std::int64_t started = wall_clock_ns();
    const Nanoseconds begin = now_ns();
    Channel& channel = *channels_.front(); // all have the same settings
    clock_error_ns_ = keep_clock_();
    const bool is_beside_mpi = beside != nullptr && beside->is_baseline();
    PhaseCounts verified = counted_verification(point);
    PhaseCounts verified_beside;
    if (beside != nullptr && !is_beside_mpi) verified_beside = counted_verification(*beside);

    std::vector<Series> all(beside != nullptr ? 2 : 1);
    all[0].engine = engine_of(point);
    all[0].polling = point.polling;
    if (beside != nullptr) {
        all[1].engine = engine_of(*beside);
        all[1].polling = beside->polling;
    }
    if (is_beside_mpi) all[1].kind = OpKind::baseline;
    for (Series& series : all) {
        series.warmup_p50 = warm_up(series);
        if (rules_.has_late_limit && loop_.start() == Start::clock)
            series.late_limit = late_limit(std::isnan(series.warmup_p50) ? 0 : series.warmup_p50);
    }
    run_blocks(all, beside != nullptr);

    PointOutcome outcome;
    outcome.own = finish(all[0], point);
    outcome.own.verification = std::move(verified);
    outcome.own.used_inject = uses_inject(channel.domain().offer(), point);
    if (beside != nullptr) {
        outcome.beside = finish(all[1], *beside);
        outcome.beside->verification = std::move(verified_beside);
        outcome.beside->used_inject = !is_beside_mpi && uses_inject(channel.domain().offer(), *beside);
    }
    outcome.own.started_ns = started;
    outcome.own.duration_ns = now_ns() - begin;
    if (job_.is_root() && outcome.beside) {
        outcome.beside->started_ns = started;
        outcome.beside->duration_ns = outcome.own.duration_ns;
        if (summary_rules().tells_reached()) { // of both: they move the same
            set_ratio(outcome.own, *outcome.beside, rules_);
            set_ratio(*outcome.beside, outcome.own, rules_);
        }
    }
    return outcome;
}

} // namespace a2aperf
