// SPDX-License-Identifier: BSD-3-Clause
#include "a2aperf/record/closing.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <numeric>
#include <optional>

#include <fmt/format.h>

#include "a2aperf/base/units.hpp"
#include "a2aperf/plan/message_steps.hpp"
#include "a2aperf/stats/paired_ratio.hpp"
#include "a2aperf/stats/summary.hpp"
#include "faster_settings.hpp"

namespace a2aperf {
namespace {

Rows select(const std::vector<Row>& rows, const std::function<bool(const Row&)>& wanted) {
    Rows selected;
    for (const Row& row : rows)
        if (wanted(row)) selected.push_back(&row);
    return selected;
}

std::string points(std::size_t count) {
    return counted(static_cast<std::int64_t>(count), "point");
}

// The row with the largest value among those where it exists.
const Row* largest(const Rows& rows, const std::function<double(const Row&)>& value) {
    const Row* best = nullptr;
    for (const Row* row : rows)
        if (!std::isnan(value(*row)) && (best == nullptr || value(*row) > value(*best))) best = row;
    return best;
}

// "p90 above 3 x p50 at 2 of 24 points, most at 1000 B: 24.9 times": nothing where no row exceeds the limit.
std::optional<std::string> exceeding(const Rows& rows, const std::string& what, double limit,
                                     const std::function<double(const Row&)>& value,
                                     const std::function<std::string(double)>& shown) {
    const auto count = static_cast<std::size_t>(
        std::count_if(rows.begin(), rows.end(), [&](const Row* row) { return value(*row) > limit; }));
    if (count == 0) return std::nullopt;
    const Row* most = largest(rows, value);
    return fmt::format("{} at {} of {}, most at {}: {}", what, count, points(rows.size()),
                       format_bytes(most->point.message_size), shown(value(*most)));
}

std::string factor(double value) {
    return value < 10 ? fmt::format("{:.2f} times", value) : fmt::format("{:.1f} times", value);
}
std::string percent(double value) {
    return fmt::format("{:.1f} %", value * 100);
}

// Of this launch's points: the links that it has, or was told of, need not be those of a launch before.
std::optional<std::string> above_links(const Rows& rows, const NodeLinkRate& link) {
    if (link.gbps <= 0) return std::nullopt;
    Rows now;
    std::ranges::copy_if(rows, std::back_inserter(now), [](const Row* row) { return !row->is_before; });
    return exceeding(
        now,
        fmt::format("{}more than the {:g} Gbit/s of a node's links{}",
                    now.size() < rows.size() ? "of this launch's points " : "", link.gbps,
                    link.is_stated ? ", as stated (--link-rate)," : ""),
        link.gbps, [](const Row& row) { return summary_of(row).gbps.node_net; },
        [](double gbps) { return fmt::format("{:.2f} Gbit/s", gbps); });
}

// Where all of a node's cores would do: a launcher may give a rank too few of them, and the system refuse one.
std::optional<std::string> threads_without_core(const Rows& rows) {
    Rows threaded;
    std::ranges::copy_if(rows, std::back_inserter(threaded),
                         [](const Row* row) { return !row->is_before && row->point.threads != Threads::one; });
    return exceeding(
        threaded, "not every thread of every rank got a core of its own", 0,
        [](const Row& row) {
            return static_cast<double>(row.point.threads_of_rank() - row.result->pinned_threads);
        },
        [](double count) { return counted(static_cast<std::int64_t>(count), "thread") + " of a rank without"; });
}

// P(X >= k) of the binomial distribution, n trials with probability p: the sum of its terms, in logarithms.
double at_least(std::size_t k, std::size_t n, double p) {
    const auto log_factorial = [](std::size_t i) { return std::lgamma(static_cast<double>(i) + 1); };
    double sum = 0;
    for (std::size_t i = k; i <= n; ++i)
        sum += std::exp(log_factorial(n) - log_factorial(i) - log_factorial(n - i) +
                        static_cast<double>(i) * std::log(p) + static_cast<double>(n - i) * std::log1p(-p));
    return std::min(sum, 1.0);
}

// The rank that finished last most often, where chance explains that at less than 1 % of launches, in two ways. In
// the ops of a point: any of the R ranks at any of the points could have been it (Bonferroni), and ten ops count as
// one. And between points, each of which counts once: of ops that depend on each other for longer one of equal
// ranks is last in most of a point, but that is another rank in the next. So of few points nothing is said. Only of
// ops that start by the clock: who leaves a barrier last finishes last. And only of ranks that have the same to do.
std::optional<std::string> last_too_often(const Rows& rows, int ranks) {
    constexpr double kLevel = 0.01;
    constexpr std::size_t kOpsThatCountAsOne = 10;
    const double level = kLevel / (static_cast<double>(ranks) * static_cast<double>(rows.size()));
    std::vector<std::size_t> too_often(static_cast<std::size_t>(ranks)), most_often(too_often);
    std::size_t judged = 0;
    for (const Row* row : rows) {
        const Summary& summary = summary_of(*row);
        const bool starts_by_clock = row->result->late_limit_ns >= 0;
        const std::size_t n = summary.count / kOpsThatCountAsOne;
        if (summary.last_rank < 0 || n == 0 || !starts_by_clock || row->point.traffic || row->point.forwarding)
            continue;
        const auto who = static_cast<std::size_t>(summary.last_rank);
        const auto k = static_cast<std::size_t>(summary.last_rank_share * static_cast<double>(n));
        if (at_least(k, n, 1.0 / ranks) < level) ++too_often[who];
        ++most_often[who];
        ++judged;
    }
    const auto most = std::ranges::max_element(too_often);
    const auto rank = static_cast<std::size_t>(most - too_often.begin());
    if (*most == 0 || at_least(most_often[rank], judged, 1.0 / ranks) * ranks >= kLevel) return std::nullopt;
    return fmt::format("rank {} finished last significantly more often than expected at {} of {}", rank, *most,
                       points(rows.size()));
}

// Medians of the first and the last sentinel whose 95 % intervals don't meet. What was seen and no cause: slow
// noise does that, too, and the two may be of different launches of a file.
std::optional<std::string> sentinel_shift(const std::vector<Row>& rows) {
    const Rows sentinels =
        select(rows, [](const Row& row) { return row.point.role == Role::sentinel && row.result != nullptr; });
    if (sentinels.size() < 2) return std::nullopt;
    const Summary& first = summary_of(*sentinels.front());
    const Summary& last = summary_of(*sentinels.back());
    const bool is_apart = first.p50_high < last.p50_low || last.p50_high < first.p50_low;
    if (!is_apart) return std::nullopt;
    const double times = last.p50 / first.p50;
    const bool is_percent = times > 0.1 && times < 10;
    return fmt::format(
        "the sentinel's median was {:.2f} µs ({:.2f} to {:.2f}) when it was first measured, {:.2f} µs ({:.2f} to "
        "{:.2f}) when it was last: {}",
        first.p50 * kMicroseconds, first.p50_low * kMicroseconds, first.p50_high * kMicroseconds,
        last.p50 * kMicroseconds, last.p50_low * kMicroseconds, last.p50_high * kMicroseconds,
        is_percent ? fmt::format("{:+.1f} %", (times - 1) * 100) : fmt::format("{:.3g} times", times));
}

double switches_per_op(const Row& row) {
    std::int64_t switches = 0;
    for (const RankCounters& rank : row.result->ranks)
        switches += std::max<std::int64_t>(rank.involuntary_switches, 0);
    const std::size_t ops = summary_of(row).count + summary_of(row).invalid;
    return ops > 0 ? static_cast<double>(switches) / static_cast<double>(ops) : 0;
}

double invalid_share(const Row& row) {
    const auto invalid = static_cast<double>(summary_of(row).invalid);
    const double attempts = invalid + static_cast<double>(summary_of(row).count);
    return attempts > 0 ? invalid / attempts : 0;
}

// By how much more an interval of one of so many points must leave out 1, for the error of all of them together to
// be that of one (Bonferroni). By Student's law of the fewest blocks that an interval is made of, whatever there
// were.
double widening_for(std::size_t family) {
    constexpr double kLevel = 0.05;
    constexpr int kFreedom = 5;
    const double limit = student_limit(kLevel, kFreedom);
    return family > 1 ? student_limit(kLevel / static_cast<double>(family), kFreedom) / limit : 1;
}

std::optional<std::string> against_mpi(const Rows& rows) {
    std::vector<double> ratios;
    Rows judged;
    for (const Row* row : rows) {
        const Summary& summary = summary_of(*row);
        if (std::isnan(summary.ratio)) continue;
        ratios.push_back(summary.ratio);
        if (!std::isnan(summary.ratio_low)) judged.push_back(row);
    }
    if (ratios.empty()) return std::nullopt;
    std::sort(ratios.begin(), ratios.end());
    const double wider = widening_for(judged.size());
    const auto widened = [&](const Row* row, double Summary::*end) { // its logarithm
        const double ratio = std::log(summary_of(*row).ratio);
        return ratio + wider * (std::log(summary_of(*row).*end) - ratio);
    };
    const auto faster =
        std::ranges::count_if(judged, [&](const Row* row) { return widened(row, &Summary::ratio_low) > 0; });
    const auto slower =
        std::ranges::count_if(judged, [&](const Row* row) { return widened(row, &Summary::ratio_high) < 0; });
    const auto unknown = std::ssize(ratios) - std::ssize(judged);
    const auto undecided = std::ssize(judged) - faster - slower;
    // Of an even number the mean of the middle two, geometric: then swapping the sides inverts it.
    const double median = std::sqrt(ratios[(ratios.size() - 1) / 2] * ratios[ratios.size() / 2]);
    const bool is_uniform =
        std::all_of(rows.begin(), rows.end(), [](const Row* row) { return !row->point.traffic; });
    const bool is_mixed =
        !is_uniform && std::any_of(rows.begin(), rows.end(), [](const Row* row) { return !row->point.traffic; });
    const char* const call = is_uniform ? "MPI_Alltoall"
                             : is_mixed ? "MPI_Alltoall and MPI_Alltoallv"
                                        : "MPI_Alltoallv";
    std::string words = fmt::format("against {}: {:.2f} to {:.2f} times as fast, median {:.2f} of {}", call,
                                    ratios.front(), ratios.back(), median, points(ratios.size()));
    const auto tell = [&](std::ptrdiff_t count, std::string_view what) {
        if (count > 0) words += fmt::format("; {} {}", count, what);
    };
    tell(faster, "faster");
    tell(slower, "slower");
    tell(undecided,
         judged.size() == 1
             ? "undecided (1 lies within the interval)"
             : fmt::format("undecided (1 lies within the interval, for {} points together)", judged.size()));
    tell(unknown, "with insufficient samples for an interval");
    return words;
}

bool is_same_cell(const Point& a, const Point& b) {
    return a.mode == b.mode && moves_alike(a, b);
}

// Where no bound by links is known: what was moved in a second at the rank that has most of it, over what each rank
// moved in the uniform traffic beside it. Small messages cost by their number, large ones by their bytes.
struct Shares {
    std::string traffic;
    std::vector<double> of_bytes, of_messages;
};

Shares& shares_of(std::vector<Shares>& all, const std::string& traffic) {
    const auto found = std::ranges::find(all, traffic, &Shares::traffic);
    return found != all.end() ? *found : all.emplace_back(Shares{traffic, {}, {}});
}

std::string range_of(const std::vector<double>& shares) {
    const auto [least, most] = std::minmax_element(shares.begin(), shares.end());
    return shares.size() == 1 ? percent(*least) : fmt::format("{} to {}", percent(*least), percent(*most));
}

// Whether its time is what the ranks left a barrier apart, and tells nothing of what was reached.
bool is_untold(const Row& row) {
    SummaryRules rules;
    rules.has_common_start = row.result->late_limit_ns >= 0;
    rules.follows_on = row.point.is_pipelined();
    if (row.point.traffic) rules.loads = row.point.traffic->loads();
    return !rules.tells_reached();
}

std::vector<std::string> untold(const Rows& rows) {
    std::vector<std::string> lines;
    for (const Row* row : rows) {
        if (!is_untold(*row)) continue;
        std::string line =
            fmt::format("traffic {}: ops start at a barrier and messages go one way, so nothing is said "
                        "of what was reached (with --sync clock it is)",
                        row->point.traffic->name());
        if (std::ranges::find(lines, line) == lines.end()) lines.push_back(std::move(line));
    }
    return lines;
}

std::vector<std::string> against_uniform(const Rows& rows, const Layout& layout) {
    std::vector<Shares> all;
    for (const Row* row : rows) {
        if (!row->point.traffic || !std::isnan(summary_of(*row).bound) || is_untold(*row)) continue;
        const auto uniform = std::find_if(rows.begin(), rows.end(), [&](const Row* other) {
            return !other->point.traffic && is_same_cell(row->point, other->point);
        });
        if (uniform == rows.end()) continue;
        // Where ops differ in what they move, that is a mean of them, and so are the times.
        double Summary::*const time = row->point.draws() > 1 ? &Summary::mean : &Summary::p50;
        const double times_as_fast = summary_of(**uniform).*time / summary_of(*row).*time;
        const double times_the_messages = row->point.traffic->most_messages() / (layout.ranks() - 1);
        Shares& shares = shares_of(all, row->point.traffic->name());
        shares.of_bytes.push_back(summary_of(*row).imbalance * times_as_fast);
        shares.of_messages.push_back(times_the_messages * times_as_fast);
    }
    std::vector<std::string> lines;
    for (const Shares& shares : all)
        lines.push_back(fmt::format(
            "traffic {}: of what each rank moves in a second in the uniform traffic its busiest one moved "
            "{} by bytes, {} by messages",
            shares.traffic, range_of(shares.of_bytes), range_of(shares.of_messages)));
    return lines;
}

std::string best(const Rows& rows, double Bandwidths::*rate, const char* per) {
    const Row* row = largest(rows, [&](const Row& r) { return summary_of(r).gbps.*rate; });
    if (row == nullptr) return {};
    return fmt::format("{} Gbit/s per {} at {} (n = {})", format_gbps(summary_of(*row).gbps.*rate), per,
                       format_bytes(row->point.message_size), summary_of(*row).count);
}

} // namespace

std::string what_was_measured(const PointCounts& counts, std::string_view why_failed) {
    const auto& [measured, before, skipped, failed] = counts;
    const bool is_idle = before > 0 && before >= measured && failed == 0;
    std::string words = is_idle ? fmt::format("nothing was left to do, {} measured before", points(before))
                                : fmt::format("{} measured", points(measured - before));
    if (!is_idle && before > 0) words += fmt::format(", {} before", before);
    if (skipped > 0) words += fmt::format(", {} skipped", skipped);
    if (failed > 0) words += fmt::format(", {} failed ({})", failed, why_failed);
    return words;
}

PointResult kept_for_closing(PointResult result) {
    RankCounters all{};
    for (const RankCounters& rank : result.ranks)
        all.involuntary_switches += std::max<std::int64_t>(rank.involuntary_switches, 0);
    result.samples = {};
    // As vectors of their own: an assigned list leaves the room of what was there.
    result.ranks = std::vector<RankCounters>{all};
    result.nodes = std::vector<NodeCounters>();
    result.told = std::vector<std::string>();
    result.verification = result.before = result.after = {};
    return result;
}

std::vector<std::string> disturbances(const Rows& measured, bool yields) {
    constexpr double kManyInvalid = 0.05;
    constexpr double kManySwitches = 0.1;
    std::vector<std::string> lines;
    const auto add = [&](std::optional<std::string> words) {
        if (words) lines.push_back(std::move(*words));
    };
    add(exceeding(measured, "more than 5 % of the ops invalid (a rank was late)", kManyInvalid, invalid_share,
                  percent));
    add(exceeding(
        measured,
        yields ? "ranks yielded their core or were preempted during ops" : "ranks were preempted during ops",
        kManySwitches, switches_per_op,
        [](double switches) { return fmt::format("{:.1f} times per op, all ranks together", switches); }));
    return lines;
}

std::vector<std::string> closing_words(const std::vector<Row>& rows, const Layout& layout, const std::string& file,
                                       const NodeLinkRate& link, const std::string& oversubscription,
                                       std::size_t before, bool yields) {
    const auto has_figures = [](const Row& row) { return row.result != nullptr && summary_of(row).count > 0; };
    const Rows measured =
        select(rows, [&](const Row& row) { return row.point.role == Role::measure && has_figures(row); });
    const Rows failed = select(
        rows, [&](const Row& row) { return row.point.is_counted() && row.result != nullptr && !has_figures(row); });
    const Rows skipped =
        select(rows, [](const Row& row) { return row.point.is_counted() && row.result == nullptr; });
    std::vector<std::string> lines;
    // First of all: whatever follows is also what sharing cores does.
    if (!oversubscription.empty()) lines.push_back(oversubscription);
    lines.push_back(fmt::format(
        "{}: {}", what_was_measured({measured.size(), before, skipped.size(), failed.size()}, "no op was valid"),
        file));
    if (measured.empty()) return lines;

    Rows told; // what their times are known to be of
    std::ranges::copy_if(measured, std::back_inserter(told), [](const Row* row) { return !is_untold(*row); });
    const std::string per_rank = best(told, &Bandwidths::rank, "rank");
    const std::string per_node = best(told, &Bandwidths::node_net, "node");
    if (!per_rank.empty())
        lines.push_back(fmt::format("best: {}{}{}", per_rank, per_node.empty() ? "" : ", ", per_node));

    const auto remark = [&](const std::optional<std::string>& words) {
        if (words) lines.push_back(fmt::format("note: {}", *words));
    };
    constexpr double kLongTail = 3;
    const Rows alike = select(rows, [&](const Row& row) { // ops that move more than others rightly take longer
        return row.point.role == Role::measure && has_figures(row) && row.point.draws() == 1;
    });
    remark(exceeding(
        alike, "p90 above 3 x p50", kLongTail,
        [](const Row& row) { return summary_of(row).p90 / summary_of(row).p50; }, factor));
    remark(exceeding(
        alike, "mean above p90", 1, [](const Row& row) { return summary_of(row).mean / summary_of(row).p90; },
        factor));
    remark(above_links(told, link));
    if (oversubscription.empty()) {
        remark(threads_without_core(measured));
        remark(last_too_often(measured, layout.ranks()));
    }
    for (const std::string& words : disturbances(measured, yields)) remark(words);
    remark(sentinel_shift(rows));
    // Times of ops that follow one another hold what a rank waited for the others, too: they say nothing of modes.
    if (!measured.front()->point.is_pipelined())
        for (const std::string& words : faster_settings(told)) remark(words);
    for (const std::string& words : untold(measured)) remark(words);
    for (const std::string& words : against_uniform(measured, layout)) remark(words);
    remark(against_mpi(told));
    return lines;
}

} // namespace a2aperf
